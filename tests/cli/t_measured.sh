#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Measurements of one's own: podbench measured keeps them in a project's folder, and answers there use them.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
"$PODBENCH" init "$work/mine" >"$work/out"
cd "$work/mine" || exit 1
kept=podbench-measured.csv

run run recipes/my-run.ini --format json
rate=$(sed -n 's/.*"throughput_samples_per_s": \([0-9]*\).*/\1/p' "$work/out")
run measured recipes/my-run.ini --step "$((rate * 4 / 5))/s"
[ $status -eq 0 ] && grep -q '^recipes/my-run.ini .* +25.0 %  *no ' "$work/out" && [ "$(wc -l <$kept)" -eq 2 ]
result $? "a run at four fifths of its rate was predicted 25 % too fast, and lies outside its interval" "$(cat "$work/out" "$work/err")"
run run recipes/my-run.ini
grep -q '; expect .* as measured and published runs like it are predicted 22\.[0-9] % too fast' "$work/out" && grep -q 'nearest run: recipes/my-run.ini, measured here; it is predicted 25.0 % too fast$' "$work/out"
result $? "the same run is expected near what was measured" "$(cat "$work/out")"
run run recipes/my-run.ini --set parallel.micro_batch=10
grep -q 'measured and published runs like it are predicted [12][0-9]\.. % too fast' "$work/out"
result $? "so is one near it" "$(cat "$work/out")"
run check --recipes recipes --published published
grep -q '^measured here ' "$work/out" && grep -q '^recipes/my-run.ini .*+25.0 %' "$work/out"
result $? "check lists it, at first sight and today" "$(cat "$work/out")"
run explain recipes/my-run.ini
grep -qE '^measured here: [0-9.]+ k?samples/s, ([0-9]\.[0-9]{2}|[0-9]{2}\.[0-9]|[0-9]{3}) [mun]?s a step more than predicted; ' "$work/out" && grep -q '^part alone ' "$work/out"
result $? "explain says which parts could carry the difference" "$(tail -15 "$work/out")"

# Refusals, none of which changes the file.
before=$(cat $kept)
refused() { what=$1 says=$2; shift 2; run measured "$@"; [ $status -eq 2 ] && grep -q "$says" "$work/err" && [ "$(cat $kept)" = "$before" ]; result $? "$what" "$(cat "$work/err")"; }
refused "a run that is measured already" 'my-run.ini is measured already, [0-9.]* samples/s; take its line out of podbench-measured.csv' recipes/my-run.ini --step 1s
refused "no step" 'want --step, the time of a step (1.4s) or a rate (7260/s), or a table recipe,step' recipes/my-run.ini
refused "a step without a unit" "'1.4': want the time of a step, as in 1.4s or 35ms, or a rate, as in 7260/s" recipes/my-run.ini --step 1.4 --set parallel.micro_batch=8
printf 'recipe,step\nrecipes/none.ini,1s\n' >runs.csv
refused "a recipe that is not there" 'none.ini' runs.csv
printf 'recipe,step\nvendor-ipu-m2000-bert-base-infer-b16,5ms\nvendor-ipu-m2000-bert-base-infer-b1,x\n' >runs.csv
refused "a table with one bad row, as a whole" "^podbench: runs.csv:3: 'x': want" runs.csv
refused "a table and a step" 'leave out --step and --set' runs.csv --step 1s
printf 'recipe,step\n' >runs.csv
refused "an empty table" 'runs.csv: holds no run; want rows below the header recipe,step' runs.csv
printf 'recipe,step\nvendor-ipu-m2000-bert-base-infer-b16,5ms\nvendor-ipu-m2000-bert-base-infer-b1,900/s\n' >runs.csv
run measured runs.csv
[ $status -eq 0 ] && [ "$(wc -l <$kept)" -eq 4 ] && grep -q 'use them from now on' "$work/out"
result $? "a table is kept whole" "$(cat "$work/out" "$work/err")"
for i in 1 2 3; do "$PODBENCH" measured recipes/my-run.ini --set parallel.micro_batch=$((i + 1)) --step 1s >"$work/out.$i" 2>&1 & done
wait
[ "$(wc -l <$kept)" -eq 7 ]
result $? "three at the same time are all kept" "$(cat "$work/out".?)"
sed -i 's/^gradient_accumulation = .*/gradient_accumulation = 8/' recipes/my-run.ini
run run recipes/my-run.ini
grep -q "^podbench: $kept:2: not counted: recipes/my-run.ini changed after it was measured; take the line out and measure it again" "$work/err" && ! grep -q 'my-run.ini, measured here' "$work/out"
result $? "a recipe that was changed since counts no more, and it is said" "$(cat "$work/err")"
cd "$work" || exit 1
run measured mine/recipes/my-run.ini --step 1s
[ $status -eq 2 ] && grep -q "this folder is no project; 'podbench init DIR' starts one, whose folder keeps podbench-measured.csv" "$work/err" && [ ! -e $kept ]
result $? "outside of a project nothing is written" "$(cat "$work/err")"
done_testing
