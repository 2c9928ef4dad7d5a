#!/bin/sh
# podbench watch: measured series, their verdicts and formats.
. tests/tap.sh
awk 'BEGIN { print "commit,step_time_s"; srand(4); for (i = 0; i < 120; i++) { u = 0; for (k = 0; k < 12; k++) u += rand(); print "c" i "," 10 + 0.1 * (u - 6) } }' >"$work/steady.csv"
awk -F, -v OFS=, 'NR > 101 { $2 += 0.6 } { print }' "$work/steady.csv" >"$work/slower.csv"
run watch "$work/steady.csv"
gives 0 'step_time_s: steady: 120 points' "a steady series"
run watch "$work/slower.csv"
gives 1 'step_time_s: CHANGED for the worse' "a slower one: exit 1"
grep -qE 'since line 10[1-3] \(c(99|100|101)\)' "$work/out"
result $? "it is told where" "$(cat "$work/out")"
awk -F, -v OFS=, 'NR > 41 && NR < 82 { $2 -= 0.6 } { print }' "$work/steady.csv" >"$work/both.csv"
run watch "$work/both.csv"
gives 1 'step_time_s: CHANGED for the worse: 120 points, 2 changes' "faster, then as before: the worse one counts"
grep -q 'better.*since line 4[0-3]' "$work/out" && grep -q 'worse.*since line 8[0-3]' "$work/out"
result $? "and both are told" "$(cat "$work/out")"
run watch "$work/both.csv" --format json
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); exit "@{[map { $_->{verdict} } @{$o->{metrics}[0]{changes}}]}" ne "better worse"' <"$work/out"
result $? "in json too" "$(cat "$work/out")"
run watch "$work/both.csv" --format tap
[ "$status" -eq 1 ] && [ "$(grep -oE '^(1\.\.[0-9]+|ok [0-9]+|not ok [0-9]+)' "$work/out" | sort | tr '\n' ';')" = '1..2;not ok 2;ok 1;' ]
result $? "and judged, each by itself" "$(cat "$work/out")"
run watch "$work/slower.csv" --better higher
gives 0 'step_time_s: better' "the same, where higher is better"
run watch "$work/slower.csv" --least-change 0.2
gives 0 'steady' "a change too small to care about"
run watch "$work/slower.csv" --format annotations
gives 1 '::error file=' "annotations"
run watch "$work/slower.csv" --format junit
gives 1 'failures="1"' "junit"
run watch "$work/slower.csv" --format json
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); my $m = $o->{metrics}[0]; exit !(@{$m->{changes}} == 1 && $m->{better} eq "lower" && $m->{changes}[0]{label} =~ /^c(99|100|101)$/)' <"$work/out"
result $? "json"
head -10 "$work/steady.csv" >"$work/short.csv"
run watch "$work/short.csv"
gives 0 'step_time_s: not judged before line 21: 9 points' "a short one is not judged, and says so"

# What counts is whether the latest level is worse than the accepted one.
awk -F, -v OFS=, 'NR > 41 && NR < 82 { $2 += 0.6 } { print }' "$work/steady.csv" >"$work/repaired.csv"
run watch "$work/repaired.csv"
gives 0 'step_time_s: back at the accepted level: 120 points, 2 changes' "slower, then as before: passes"
grep -qE 'worse: .*; repaired since line 8[0-3]' "$work/out"
result $? "and the change is told as repaired" "$(cat "$work/out")"
cp "$work/slower.csv" "$work/accepts.csv"
run watch "$work/accepts.csv" --accept 'a newer compiler, "6 %"'
gives 0 'accepted in' "--accept"
[ "$(cat "$work/accepts.accepted.csv")" = "$(printf 'series,point,reason\nstep_time_s,c119,"a newer compiler, ""6 %%"""')" ]
result $? "writes a line beside the series" "$(cat "$work/accepts.accepted.csv")"
run watch "$work/accepts.csv"
gives 0 '; accepted: a newer compiler, "6 %"' "after which it passes, with the reason"
refuses 'no series of' "there is nothing more to accept" watch "$work/accepts.csv" --accept again
awk -F, 'BEGIN { srand(9) } { print } END { for (i = 120; i < 140; i++) print "c" i "," 11.6 + 0.1 * rand() }' "$work/slower.csv" >"$work/accepts.csv"
run watch "$work/accepts.csv"
gives 1 'CHANGED for the worse: 140 points, 2 changes' "until it is worse again"
run watch "$work/slower.csv" --accepted "$work/accepts.accepted.csv"
gives 0 'accepted' "--accepted names the table"
printf 'label,\033]0;name\007\na,1\nb,2\n' >"$work/title.csv"
run watch "$work/title.csv"
gives 0 ' ]0;name : not judged before line 21' "a name does not change the terminal"
sed "1s/step_time_s/$(printf '\033')]0;x/" "$work/slower.csv" >"$work/title.csv"
run watch "$work/title.csv" --accept "a reason" --accepted "$work/title.accepted.csv"
gives 0 ' ]0;x: accepted in ' "nor where its level is accepted"
printf 'series,point,reason\nstep_time_s,c7777,x\n' >"$work/slower.accepted.csv"
refuses "slower.accepted.csv:2: point: step_time_s has no point 'c7777'" "a point that is not there" watch "$work/slower.csv"
printf 'series,point,reason\nstep_time_s,c110,\n' >"$work/slower.accepted.csv"
refuses "slower.accepted.csv:2: reason: is empty" "no reason" watch "$work/slower.csv"
rm "$work/slower.accepted.csv"

# Series as people have them.
sed 1d "$work/slower.csv" | cut -d, -f2 >"$work/plain.txt"
run watch "$work/plain.txt" --better lower
gives 1 'value: CHANGED for the worse: 120 points' "without a header"
"$PODBENCH" watch - --better lower <"$work/plain.txt" >"$work/out" 2>"$work/err"; status=$?
gives 1 'value: CHANGED for the worse: 120 points' "from standard input"
awk 'BEGIN { printf "[" } { printf "%s%s", (NR > 1 ? "," : ""), $1 } END { print "]" }' "$work/plain.txt" >"$work/plain.json"
run watch "$work/plain.json" --better lower
gives 1 'since point 10' "JSON: an array of numbers"
awk -F, 'BEGIN { printf "[" } NR > 1 { printf "%s{\"commit\": \"%s\", \"step_time_s\": %s}", (NR > 2 ? "," : ""), $1, $2 } END { print "]" }' "$work/slower.csv" >"$work/objects.json"
run watch "$work/objects.json"
gives 1 'step_time_s: CHANGED for the worse: 120 points' "JSON: an array of objects"
(echo model,commit,step_time_s; sed '1d; s/^/bert,/' "$work/slower.csv"; sed '1d; s/^/resnet,/' "$work/steady.csv") >"$work/many.csv"
run watch "$work/many.csv" --by model
[ $status -eq 1 ] && grep -q '^bert step_time_s: CHANGED' "$work/out" && grep -q '^resnet step_time_s: steady' "$work/out"
result $? "several series in one file, told apart by a column" "$(cat "$work/out" "$work/err")"
awk -F, 'NR == 1 { print "c,a_s,b_s"; next } { print $1 "," $2 "," 5 }' "$work/slower.csv" >"$work/two.csv"
run watch "$work/two.csv" --metric a_s,b_s
[ $status -eq 1 ] && grep -q '^a_s: CHANGED' "$work/out" && grep -q '^b_s: steady' "$work/out"
result $? "or as columns" "$(cat "$work/out" "$work/err")"
head -116 "$work/slower.csv" >"$work/young.csv"
run watch "$work/young.csv" --accept why
run watch "$work/young.csv"
gives 0 'step_time_s: not judged before line 12' "nor is a level that was accepted 15 points after it began"
run watch "$work/young.csv" --format json
perl -MJSON::PP -e 'local $/; my $m = decode_json(<STDIN>)->{metrics}[0]; exit !($m->{state} eq "not judged" && $m->{judged_from} == $m->{changes}[0]{from_line} + 18)' <"$work/out"
result $? "in json, by its point" "$(cat "$work/out")"
awk 'BEGIN { for (i = 0; i < 17; i++) print (i < 12 ? 100 : 80) + (i * 7) % 5 / 5 }' >"$work/few.txt"
run watch "$work/few.txt" --better higher
gives 1 'since line 13, noticed at line 17' "a drop of 20 % is told by 17 points"
if command -v gnuplot >/dev/null 2>&1; then
    run watch "$work/slower.csv" --out "$work/watch.svg"
    [ $status -eq 1 ] && grep -q '<svg' "$work/watch.svg" && ! ls "$work" | grep -q podbench-
    result $? "a drawing" "$(cat "$work/err")"
else
    result 0 "a drawing # SKIP no gnuplot here"
fi
refuses 'standard input has no file beside it' "a reason needs a file" watch - --accept x
refuses '--accept: only writes the acceptance; leave out --out' "an acceptance draws nothing" watch "$work/short.csv" --accept x --out "$work/x.svg"
run watch "$work/short.csv" --accepted "$work/none.csv"
[ ! -e "$work/none.csv" ] && grep -q "^podbench: --accepted $work/none.csv: No such file or directory; so no level counts as accepted$" "$work/err"
result $? "a table of accepted levels that is not there is told" "$(cat "$work/err")"
(echo errors; yes 0 | head -n 30; yes 3 | head -n 30) >"$work/errors.csv"
run watch "$work/errors.csv"
gives 1 'errors worse: 0 before, 3 after (from nothing), since line 32, noticed at line 36' "a change from nothing has no share"
echo 1e301 >>"$work/errors.csv"
refuses "errors.csv:62: errors: 1e+301 is outside -1e+300 to 1e+300" "a value that no two of which are a number" watch "$work/errors.csv"
echo 'commit,time_s' >"$work/empty.csv"
refuses "empty.csv: holds no values to judge; want rows" "a header alone is not steady" watch "$work/empty.csv"
echo '{"x": 1}' >"$work/empty.json"
refuses "empty.json: holds no values to judge; want rows" "nor is an object without a series" watch "$work/empty.json"
echo '[{"step": 1, "loss": 2.5, "tags": {}}, {"step": 2, "loss": 2.25, "tags": {}}, {"lost": 9}]' >"$work/other.json"
refuses "other.json:3: has none of the members of the first point, such as step" "a point with other members is not passed over" watch "$work/other.json" --metric loss
echo '[{"loss": 2.5}, {"loss": [2.25]}, {"loss": null}]' >"$work/nested.json"
refuses "nested.json:2: loss: '[2.25]' is not a number" "nor an array in a number's place" watch "$work/nested.json"
refuses "no column 'x'; there are: " "an unknown column" watch "$work/short.csv" --metric x
refuses "--better: 'up'" "an unknown direction" watch "$work/short.csv" --better up
refuses ":2: commit: 'c0' is not a number" "a column of texts" watch "$work/short.csv" --metric commit
done_testing
