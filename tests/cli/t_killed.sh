#!/bin/sh
# bench killed at each system call that writes, renames or removes: the run it was to replace, or the new one, is there whole.
. tests/tap.sh
if ! strace -qq -e trace=write -o /dev/null true 2>/dev/null; then
    echo "1..0 # SKIP strace cannot trace here"
    exit 0
fi
root=$work/root
mkdir -p "$root/system-model" "$root/workloads/recipes" "$root/results/published"
cp -r system-model/specs "$root/system-model/"
cp -r workloads/convergence "$root/workloads/"
id=vendor-c600-resnet50-b1-poprt
cp "workloads/recipes/$id.ini" "$root/workloads/recipes/"
head -1 results/published/vendor.csv >"$root/results/published/vendor.csv"
grep ",$id,throughput_samples_per_s," results/published/vendor.csv >>"$root/results/published/vendor.csv"

bench() { "$@" "$PODBENCH" bench --root "$root" --out "$work/run" >"$work/out" 2>"$work/err" </dev/null; }
bench || { result 1 "a bench of one recipe" "$(cat "$work/err")"; done_testing; }
mv "$work/run" "$work/old"
echo >>"$root/workloads/recipes/$id.ini"
sed -i 's/^micro_batch = 1$/micro_batch = 2/' "$root/workloads/recipes/$id.ini"
bench
mv "$work/run" "$work/new"
cmp -s "$work/old/rows.csv" "$work/new/rows.csv" && result 1 "the two runs differ"

is_run() { cmp -s "$work/run/rows.csv" "$1/rows.csv" && cmp -s "$work/run/check.csv" "$1/check.csv" && cmp -s "$work/run/manifest.json" "$1/manifest.json"; }
torn= n_old=0 n_new=0
for call in write rename unlink; do
    at=0
    killed=yes
    while [ "$killed" ] && [ "$at" -lt 60 ]; do
        at=$((at + 1))
        rm -rf "$work/run"
        cp -r "$work/old" "$work/run"
        bench strace -f -qq -o "$work/trace" -e "trace=$call" -e "inject=$call:signal=KILL:when=$at" 2>/dev/null
        grep -q 'killed by SIGKILL' "$work/trace" || killed=
        "$PODBENCH" check "$work/run" --root "$root" >"$work/out" 2>"$work/err"
        if [ $? -eq 2 ]; then torn="$torn $call:$at($(cat "$work/err"))"
        elif is_run "$work/old"; then n_old=$((n_old + 1))
        elif is_run "$work/new"; then n_new=$((n_new + 1))
        else torn="$torn $call:$at"; fi
    done
done
[ -z "$torn" ] && [ "$n_old" -ge 3 ] && [ "$n_new" -ge 3 ]
result $? "killed at each of $((n_old + n_new)) calls: $n_old times the old run, $n_new times the new one" "torn:$torn"
bench && [ -z "$(find "$work/run" -name '*.new')" ]
result $? "the next bench removes what was left behind" "$(ls "$work/run")"
rm "$work/run/manifest.json"
refuses "the run is not whole; simulate again with 'podbench bench --out" "a run without a manifest is refused" check "$work/run" --root "$root"
bench
echo >>"$work/run/check.csv"
refuses "check.csv: is not the file that manifest.json lists" "an edited run is refused" plot "$work/run" --root "$root"
bench
sed -i 's/"schema": "[^"]*"/"schema": "xxh3:0"/' "$work/run/manifest.json"
refuses "wrote this run with other columns; simulate again with" "a run with other columns is refused" check "$work/run" --root "$root"
done_testing
