#!/bin/sh
# bench killed before each system call that changes a file: the run it was to replace or the new one is there whole, or, between two of its
# renames, neither, which readers say. The next bench makes the new one.
. tests/tap.sh
. tests/killed.sh
root=$work/root
mkdir -p "$root/system-model" "$root/workloads/recipes" "$root/results/published"
cp -r system-model/specs "$root/system-model/"
cp -r workloads/convergence "$root/workloads/"
id=vendor-c600-resnet50-b1-poprt
cp "workloads/recipes/$id.ini" "$root/workloads/recipes/"
head -1 results/published/vendor.csv >"$root/results/published/vendor.csv"
grep ",$id,[^,]*,throughput_samples_per_s," results/published/vendor.csv >>"$root/results/published/vendor.csv"

bench="bench --root $root --out $work/run"
# shellcheck disable=SC2086
bench() { "$PODBENCH" $bench >"$work/out" 2>"$work/err" </dev/null; }
bench || { result 1 "a bench of one recipe" "$(cat "$work/err")"; done_testing; }
mv "$work/run" "$work/old"
echo >>"$root/workloads/recipes/$id.ini"
sed -i 's/^micro_batch = 1$/micro_batch = 2/' "$root/workloads/recipes/$id.ini"
bench
mv "$work/run" "$work/new"
cmp -s "$work/old/rows.csv" "$work/new/rows.csv" && result 1 "the two runs differ"

is_run() { cmp -s "$work/run/rows.csv" "$1/rows.csv" && cmp -s "$work/run/check.csv" "$1/check.csv" && cmp -s "$work/run/manifest.json" "$1/manifest.json"; }
old_run() { rm -rf "$work/run" && cp -r "$work/old" "$work/run"; }
look() { # WHERE IT WAS KILLED - what is there now
    "$PODBENCH" check "$work/run" --root "$root" >"$work/out" 2>"$work/err"
    if [ $? -eq 2 ]; then
        grep -q "the run is incomplete" "$work/err" && n_torn=$((n_torn + 1)) || torn="$torn $1($(cat "$work/err"))"
    elif is_run "$work/old"; then n_old=$((n_old + 1))
    elif is_run "$work/new"; then n_new=$((n_new + 1))
    else torn="$torn $1"; fi
    bench && is_run "$work/new" || torn="$torn $1(then)"
}
torn= n_old=0 n_new=0 n_torn=0
old_run
# shellcheck disable=SC2086
changing_calls 1 "$PODBENCH" $bench >"$work/points"
while read -r call at; do
    old_run
    # shellcheck disable=SC2086
    killed_at "$call" "$at" "$PODBENCH" $bench 2>/dev/null || torn="$torn $call:$at(not killed)"
    look "$call:$at"
done <"$work/points"
[ -z "$torn" ] && [ "$n_old" -ge 6 ] && [ "$n_new" -ge 1 ] && [ "$n_torn" -le 3 ]
result $? "killed at each of $((n_old + n_new + n_torn)) calls: $n_old times the old run, $n_new times the new one, $n_torn times neither, which is said" "torn:$torn"

# Where there was no run there is none, or the new one, and the next bench makes it.
torn= n_old=0 n_new=0
rm -rf "$work/run"
# shellcheck disable=SC2086
changing_calls 1 "$PODBENCH" $bench >"$work/points"
while read -r call at; do
    rm -rf "$work/run"
    # shellcheck disable=SC2086
    killed_at "$call" "$at" "$PODBENCH" $bench 2>/dev/null || torn="$torn $call:$at(not killed)"
    "$PODBENCH" check "$work/run" --root "$root" >"$work/out" 2>"$work/err"
    if [ $? -ne 2 ]; then is_run "$work/new" && n_new=$((n_new + 1)) || torn="$torn $call:$at"
    else n_old=$((n_old + 1)); fi
    bench && is_run "$work/new" || torn="$torn $call:$at(then)"
done <"$work/points"
[ -z "$torn" ] && [ "$n_old" -ge 6 ] && [ "$n_new" -ge 1 ]
result $? "where no run is: killed at each of $((n_old + n_new)) calls, $n_old times there is none, $n_new times the new one" "torn:$torn"
rm "$work/run/manifest.json"
refuses "the run is incomplete; simulate again with 'podbench bench --out" "a run without a manifest is refused" check "$work/run" --root "$root"
bench
echo >>"$work/run/check.csv"
refuses "check.csv: is not the file that manifest.json lists" "an edited run is refused" plot "$work/run" --root "$root"
bench
sed -i 's/"schema": "[^"]*"/"schema": "xxh3:0"/' "$work/run/manifest.json"
refuses "wrote this run with other columns; simulate again with" "a run with other columns is refused" check "$work/run" --root "$root"
done_testing
