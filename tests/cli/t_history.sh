#!/bin/sh
# podbench record and history: points appended by many writers at once, read back, drawn; what a kill leaves is passed over.
. tests/tap.sh
h=$work/h.csv
mkdir "$work/recipes" "$work/published"
recipe=mlperf-v1.1-closed-ipu-pod16-resnet50
cp "workloads/recipes/$recipe.ini" "$work/recipes"
printf 'id,recipe,metric,value,unit,tolerance,role,source,quote,note\nx,%s,throughput_samples_per_s,30000,samples/s,0.2,validate,made up,,\n' "$recipe" >"$work/published/t.csv"
"$PODBENCH" bench --recipes "$work/recipes" --published "$work/published" --out "$work/one" >/dev/null 2>&1
sed -i 's/^micro_batch = .*/micro_batch = 10/' "$work/recipes/$recipe.ini"
"$PODBENCH" bench --recipes "$work/recipes" --published "$work/published" --out "$work/two" >/dev/null 2>&1
refuses "no history yet: 'podbench record" "history without one" history throughput_samples_per_s --from "$h"
refuses "t.csv/history.csv: Not a directory" "a history that cannot be reached is not said to be none" history throughput_samples_per_s --baseline "$work/published/t.csv"
refuses "want a label" "record without a label" record "$work/one" --from "$h"
"$PODBENCH" record "$work/one" --from "$work/formula.csv" --label '=1+1' >/dev/null && ! grep -q '^=' "$work/formula.csv"
result $? "a label is no formula in the file"
run history throughput_samples_per_s --from "$work/formula.csv"
gives 0 '=1+1' "and is read as it was given"
refuses "want a name without comma" "a label with a comma" record "$work/one" --from "$h" --label 'a,b'
export SOURCE_DATE_EPOCH=86400
for time in never -5 "" 253402300800 99999999999999999 18446744073709551615; do
    SOURCE_DATE_EPOCH=$time refuses "SOURCE_DATE_EPOCH: '$time' is not a whole number of seconds from 0 to 253402300799" "a time of '$time'" \
        record "$work/one" --from "$work/timed.csv" --label x
done
SOURCE_DATE_EPOCH=253402300799 run record "$work/one" --from "$work/timed.csv" --label x
grep -q '^x,9999-12-31T23:59:59Z,' "$work/timed.csv"
result $? "the last time there is" "$(cat "$work/err")"
for command in "record $work/one --label x" "history throughput_samples_per_s"; do
    # shellcheck disable=SC2086
    refuses "--from $work/timed.csv and --baseline $work: both say where the points are" "two places of points: $command" $command \
        --from "$work/timed.csv" --baseline "$work"
done
refuses "history: --out draws the points, --format json prints them" "drawn and printed" history throughput_samples_per_s --from "$work/timed.csv" \
    --out "$work/both.svg" --format json
run record "$work/one" --from "$h" --label first
gives 0 "recorded $work/one as first" "record"
SOURCE_DATE_EPOCH=172800 "$PODBENCH" record "$work/two" --from "$h" --label second >/dev/null
run history throughput_samples_per_s --from "$h"
gives 0 "$recipe" "history: a line a recipe"
grep -q '^first  *1970-01-02T00:00:00Z' "$work/out" && grep -q '^second .* -[0-9.]* %  inputs differ$' "$work/out" && grep -q '2 points' "$work/out"
result $? "history of one recipe: every point, its change, and whether inputs differ" "$(cat "$work/out")"
run history mean_abs_error --from "$h" --format json
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>)->[0]; exit !($o->{recipe} eq "validate" && @{$o->{points}} == 2 && $o->{points}[1]{label} eq "second")' <"$work/out"
result $? "history --format json: the mean error of rows that validate, too" "$(cat "$work/out")"
refuses "known: throughput_samples_per_s" "an unknown metric" history thruput --from "$h"
if command -v gnuplot >/dev/null 2>&1; then
    run history throughput_samples_per_s --from "$h" --out "$work/h.svg"
    [ "$status" -eq 0 ] && grep -q 'moved most' "$work/h.svg" && [ -s "$h" ]
    result $? "history --out: a figure, its finding in the title" "$(cat "$work/err")"
else
    result 0 "history --out: a figure # SKIP no gnuplot here"
fi
mkdir "$work/bin"
printf '#!/bin/sh\nyes | head -c 100000\n' >"$work/bin/gnuplot"
chmod +x "$work/bin/gnuplot"
(ulimit -f 16; PATH="$work/bin:$PATH" "$PODBENCH" history throughput_samples_per_s --from "$h" --out "$work/cut.svg" >"$work/out" 2>"$work/err")
[ $? -eq 2 ] && grep -q 'cut.svg: cannot be written completely' "$work/err" && [ ! -e "$work/cut.svg" ]
result $? "a figure that the disk does not take is none" "$(cat "$work/err"; ls "$work")"
refuses "want a name ending in .svg" "a figure of another kind" history mean_abs_error --from "$h" --out "$work/h.gif"
refuses "want a name ending in .svg" "a figure without a name" history mean_abs_error --from "$h" --out .svg

# The data of the figure by hand: eight of nine series, what moved most first, of equal ones by name. Percent of the first point; from -50 to
# +25 each name wants 0.045 x 75 = 3.375 to the one above it: near's would stand at 23.5, down's at -25.
{
    echo label,time,version,inputs,recipe,metric,value,unit
    for point in 1,up,128 1,down,128 1,near,64 1,nether,100 1,a,7 1,b,7 1,c,7 1,d,7 1,e,7 2,up,160 2,down,96 2,near,32 2,nether,76 3,near,79.04; do
        echo "$point" | sed 's/\(.*\),\(.*\),\(.*\)/\1,1970-01-02T00:00:00Z,0.2,x,\2,speed,\3,1/'
    done
} >"$work/by-hand.csv"
run history speed --from "$work/by-hand.csv" --out "$work/d.svg"
cat >"$work/want" <<'END'
point,series 1,name 1,name at 1,series 2,name 2,name at 2,series 3,name 3,name at 3,series 4,name 4,name at 4,series 5,name 5,name at 5,series 6,name 6,name at 6,series 7,name 7,name at 7,series 8,name 8,name at 8
1,0,down,NaN,0,up,NaN,0,nether,NaN,0,near,NaN,0,a,0,0,b,-3.375,0,c,-6.75,0,d,-10.125
2,-25,down,-27.375,25,up,25,-24,nether,-24,-50,near,NaN,NaN,a,NaN,NaN,b,NaN,NaN,c,NaN,NaN,d,NaN
3,NaN,down,NaN,NaN,up,NaN,NaN,nether,NaN,23.5,near,21.625,NaN,a,NaN,NaN,b,NaN,NaN,c,NaN,NaN,d,NaN
END
cmp -s "$work/want" "$work/d.svg.csv"
result $? "history --out: the points and where their names stand, by hand" "$(diff "$work/want" "$work/d.svg.csv")"

# Many writers at once, of whom some are killed: what was reported as recorded is there.
for i in 1 2 3 4 5 6 7 8; do
    ("$PODBENCH" record "$work/one" --from "$h" --label "w$i" >"$work/said$i" 2>&1 || true) &
    if [ $((i % 2)) -eq 0 ]; then kill -9 $! 2>/dev/null; fi
done
wait
lost=
for i in 1 2 3 4 5 6 7 8; do
    if grep -q '^recorded' "$work/said$i" 2>/dev/null && ! grep -q "^w$i,.*,mean_abs_error," "$h"; then lost="$lost w$i"; fi
done
[ -z "$lost" ] && [ "$(grep -c '^label,' "$h")" -eq 1 ]
result $? "writers at once and kills lose nothing that was reported" "$lost"
printf 'w9,1970-01-02T00:00:00Z,0.2,x,y,throughput_samples_per_s,1' >>"$h"
run history throughput_samples_per_s "$recipe" --from "$h"
gives 0 'the last line is incomplete, and left out' "half a line is left out, and told"
"$PODBENCH" record "$work/one" --from "$h" --label tenth >/dev/null
run history throughput_samples_per_s "$recipe" --from "$h"
[ "$status" -eq 0 ] && [ ! -s "$work/err" ] && grep -q '^tenth' "$work/out"
result $? "the next writer cuts it off" "$(cat "$work/err")"
# A spreadsheet may have saved it; what is another table is not written to; one without a point says so.
run history throughput_samples_per_s "$recipe" --from "$h" --format csv
cp "$work/out" "$work/plain"
(printf '\357\273\277'; sed 's/$/\r/' "$h") >"$work/saved.csv"
run history throughput_samples_per_s "$recipe" --from "$work/saved.csv" --format csv
[ "$status" -eq 0 ] && [ ! -s "$work/err" ] && cmp "$work/out" "$work/plain" >>"$work/err"
result $? "a history that a spreadsheet has saved is the same" "$(cat "$work/err")"
cp "$work/plain" "$work/foreign.csv"
refuses "foreign.csv:1: is another table; want the header label,time,version,inputs,recipe,metric,value,unit" "a point is not added to another table" \
    record "$work/one" --from "$work/foreign.csv" --label x
cmp -s "$work/plain" "$work/foreign.csv"
result $? "which stays"
head -n 1 "$h" >"$work/empty.csv"
refuses "empty.csv: holds no point yet" "a history without a point" history throughput_samples_per_s --from "$work/empty.csv"

# Two branches merge by the lines of both.
if command -v git >/dev/null 2>&1; then
    (cd "$work" && git init -q g && cd g && git config user.email a@b && git config user.name a && echo 'history.csv merge=union' >.gitattributes &&
     head -4 "$h" >history.csv && git add -A && git commit -qm 1 && git checkout -qb side && echo 's,t,v,i,r,m,1,u' >>history.csv && git commit -qam 2 &&
     git checkout -q - && echo 'm,t,v,i,r,m,2,u' >>history.csv && git commit -qam 3 && git merge -q side -m 4) >"$work/git" 2>&1 &&
        grep -q '^s,' "$work/g/history.csv" && grep -q '^m,' "$work/g/history.csv"
    result $? "two branches merge" "$(cat "$work/git")"
    (cd "$(dirname "$0")/../.." && git check-attr merge results/baselines/history.csv 2>/dev/null | grep -q union) || ! git rev-parse --git-dir >/dev/null 2>&1
    result $? "the project's own is marked so"
else
    result 0 "two branches merge # SKIP no git here"
    result 0 "the project's own is marked so # SKIP no git here"
fi
# A series that begins at nothing has no share of it, in text and figure.
{ head -n 1 "$h"; printf '%s\n' a,1,v,i,r,m,0,s b,2,v,i,r,m,0,s c,3,v,i,r,m,5,s a,1,v,i,q,m,4,s b,2,v,i,q,m,5,s; } >"$work/zero.csv"
run history m r --from "$work/zero.csv"
grep -q '0 -> 5 s (from nothing), 3 points$' "$work/out" && grep -q '^c .* 5 *from nothing$' "$work/out" && ! grep -qE 'inf|nan' "$work/out"
result $? "history from nothing" "$(cat "$work/out")"
if command -v gnuplot >/dev/null 2>&1; then
    run history m --from "$work/zero.csv" --out "$work/zero.svg"
    printf '%s\n' '1,0,r,NaN,0,q,NaN' '2,0,r,NaN,25,q,25' '3,NaN,r,0,NaN,q,NaN' >"$work/want"
    tail -n 3 "$work/zero.svg.csv" | diff "$work/want" - >"$work/out"
    result $? "and its figure" "$(cat "$work/out" "$work/err")"
else
    result 0 "and its figure # SKIP no gnuplot here"
fi
# Where a run's recipes and figures are gone, stock ones, and that is said.
mkdir "$work/elsewhere" && mv "$work/recipes" "$work/published" "$work/elsewhere"
run validate "$work/one" --root tests/root
gives 0 "podbench: $work/one/manifest.json: the run's recipes were in $work/recipes, which is missing; using those in tests/root/workloads/recipes" \
    "a run whose recipes are gone"
grep -qF "the run's figures were in $work/published, which is missing; using those in tests/root/results/published" "$work/err"
result $? "and whose figures are" "$(cat "$work/err")"

# A clock that was set back: the newest point is still the last.
head -1 "$h" >"$work/clock.csv"
sed -n '/^second,/s/,1970-[^,]*,/,2999-01-01T00:00:00Z,/p' "$h" >>"$work/clock.csv"
(unset SOURCE_DATE_EPOCH; "$PODBENCH" record "$work/one" --from "$work/clock.csv" --label third >/dev/null)
run history throughput_samples_per_s --from "$work/clock.csv" --format csv
[ "$status" -eq 0 ] && [ "$(tail -n 1 "$work/out" | cut -d, -f2,3)" = third,2999-01-01T00:00:00Z ]
result $? "a clock that goes back does not change the order of points" "$(cat "$work/out" "$work/clock.csv")"
done_testing
