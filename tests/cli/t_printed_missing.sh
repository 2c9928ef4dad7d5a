#!/bin/sh
# What commands say of each of their files that is not there, or is no table: refused by its name, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v2.0-closed-bow-pod16-resnet50
cp -rL tests/root "$work/root"
export PODBENCH_ROOT="$work/root"
without() { # FILE COMMAND... - each command without the file, and with another text in its place
    file=$1
    shift
    mv "$work/$file" "$work/kept"
    for text in '' 'no,table'; do
        [ -z "$text" ] || echo "$text" >"$work/$file"
        for command in "$@"; do
            # shellcheck disable=SC2086
            "$PODBENCH" $command >/dev/null 2>"$work/err" </dev/null
            echo "$file ${text:+is: }${text:-is gone}: $command: $?" | cat - "$work/err" | plain >>"$work/shown"
        done
    done
    rm "$work/$file"
    mv "$work/kept" "$work/$file"
}
run run $resnet --mllog "$work/logs" --seed 3
run bench --out "$work/one"

for sheet in bow bow-2000 bow-pod16; do
    without root/system-model/specs/$sheet.csv "run $resnet" "machine bow-pod16"
done
for sheet in sdk/2.5.1 frameworks/tensorflow-1-2.1.0; do
    without root/system-model/specs/$sheet.csv "run $resnet"
done
for table in benchmarks fits rounds/v2.0/edition rounds/v2.0/benchmarks rounds/v2.0/rcp; do
    without root/workloads/convergence/$table.csv "run $resnet --runs 9 --seed 3" "compare-logs $work/logs"
done
without root/workloads/convergence/rounds/v2.0/benchmarks.csv "lint $work/logs" "score $work/logs"
without root/workloads/recipes/$resnet.ini "run $resnet" "compare-logs $work/logs"
for table in rules tensors system_fields; do
    without root/workloads/convergence/rounds/v2.0/$table.csv "lint $work/logs" "score $work/logs" "compare-logs $work/logs" "run $resnet --mllog $work/more --seed 3"
done
without root/results/published/claims/claims.csv audit
without root/results/published/claims/facts.csv audit
without root/results/published/claims/numbers.csv audit
without root/results/published/ledger/ledger.csv ledger
without root/results/published/runs/mlperf_runs.csv "validate $work/one"
for table in mlperf derived/derived; do
    printf 'no,table\n' >"$work/root/results/published/$table.csv"
    show audit
    show ledger
    show validate "$work/one"
    show report "$work/one"
    cp tests/root/results/published/$table.csv "$work/root/results/published/$table.csv"
done
for table in system-model/specs/fitted-chip system-model/specs/fitted-system results/validity/left-out; do
    printf 'no,table\n' >"$work/root/$table.csv"
    show run $resnet
    cp tests/root/$table.csv "$work/root/$table.csv"
done
for sheet in fitted-chip fitted-system; do
    rm "$work/root/system-model/specs/$sheet.csv"
    show run $resnet
    cp tests/root/system-model/specs/$sheet.csv "$work/root/system-model/specs/$sheet.csv"
done
sed -i '/^mk2/d' "$work/root/system-model/specs/fitted-chip.csv"
sed -i '/^unexplained_call_s\|^throughput_error/d' "$work/root/system-model/specs/fitted-system.csv"
show run $resnet
cp tests/root/system-model/specs/fitted-*.csv "$work/root/system-model/specs/"
for file in rows.csv check.csv manifest.json; do
    without one/$file "check $work/one" "compare $work/one $work/one" "report $work/one" "plot $work/one" "record $work/one --from $work/h.csv --label a" \
        "baseline $work/one --baseline $work/base --reason why" "validate $work/one"
done
printed missing
done_testing
