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
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); exit "@{[map { $_->{verdict} } @{$o->{changes}}]}" ne "better worse"' <"$work/out"
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
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); exit !(@{$o->{changes}} == 1 && $o->{better} eq "lower" && $o->{changes}[0]{label} =~ /^c(99|100|101)$/)' <"$work/out"
result $? "json"
head -20 "$work/steady.csv" >"$work/short.csv"
run watch "$work/short.csv"
gives 0 'too short to judge: 19 points, want at least 35' "a short one is not judged, and says so"
(echo errors; yes 0 | head -n 30; yes 3 | head -n 30) >"$work/errors.csv"
run watch "$work/errors.csv"
gives 1 'errors worse: 0 before, 3 after (from nothing), since line 32, noticed at line 41' "a change from nothing has no share"
echo 1e301 >>"$work/errors.csv"
refuses "errors.csv:62: errors: 1e+301 is outside -1e+300 to 1e+300" "a value that no two of which are a number" watch "$work/errors.csv"
refuses "no column 'x'" "an unknown column" watch "$work/short.csv" --metric x
refuses "--better: 'up'" "an unknown direction" watch "$work/short.csv" --better up
refuses ":2: commit: 'c0' is not a number" "a column of texts" watch "$work/short.csv" --metric commit
done_testing
