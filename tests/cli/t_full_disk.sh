#!/bin/sh
# Whoever writes, where a file may not grow past one kilobyte or two: status 2, one line that names the file and the cause, and what was there
# before is there still, and nothing else: but for a sweep's rows, which --resume goes on from, and the data beside a picture that has no room.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
id=vendor-c600-resnet50-b1-poprt
resnet=mlperf-v2.0-closed-bow-pod16-resnet50
over="sweep $id --over parallel.micro_batch=1..8"
mkdir "$work/before" "$work/before/recipes" "$work/before/own"
cp workloads/recipes/$id.ini "$work/before/recipes/"
echo mine >"$work/before/own/notes"
cd "$work/before" || exit 1
"$PODBENCH" bench --recipes recipes --out run >/dev/null 2>&1
"$PODBENCH" baseline run --baseline base --reason first >/dev/null
for label in one two three four; do "$PODBENCH" record run --baseline base --label $label >/dev/null; done
for i in 1 2; do "$PODBENCH" $over --out s.csv --shard $i/2 2>/dev/null; done
cd "$work" || exit 1

# KIB FILE COMMAND...
no_room() {
    kib=$1 file=$2
    shift 2
    rm -rf now && cp -r before now
    (cd now && ulimit -f $((2 * kib)) && exec "$PODBENCH" "$@" 2>&1 >/dev/null </dev/null) | cat >err
    grep '^podbench: ' err | grep -v ': [0-9]* derived rows left out;' >said
    find now/logs now/own -type d -empty -delete 2>/dev/null      # a package and a project leave the folders that they made
    rm -f now/h.svg.csv
    [ "$(wc -l <said)" -eq 1 ] && grep -q "^podbench: .*$file\(\.podbench-[0-9a-f]*\.new/[^ ]*\)\{0,1\}.*: File too large\$" said && diff -r now before >difference 2>&1
    result $? "no room for $file: $*" "$(cat err difference)"
}
: >difference
no_room 1 'rows.csv' bench --recipes recipes --out run
no_room 2 'check.csv' bench --recipes recipes --out another
no_room 1 'base/rows.csv' baseline run --baseline base --reason second
no_room 1 'base/history.csv' record run --baseline base --label five
no_room 1 'all.csv' merge s.1-of-2.csv s.2-of-2.csv --out all.csv
no_room 4 'all.csv' merge s.1-of-2.csv s.2-of-2.csv --out all.csv
no_room 1 't.json' timeline $id --trace t.json
no_room 1 'h.svg' history throughput_samples_per_s --baseline base --out h.svg
no_room 1 'resnet' run $resnet --runs 2 --mllog logs
no_room 1 'mine' init mine
no_room 8 'm.onnx' workload resnet18 --onnx m.onnx
no_room 100 'm.onnx.data' workload resnet18 --onnx m.onnx --weights 1
no_room 1 'own/recipes/my-run.ini' init own
no_room 1 'run/report.html' report run
for kib in 1 4; do
    rm -rf now && cp -r before now
    (cd now && ulimit -f $((2 * kib)) && exec "$PODBENCH" $over --out rows.csv 2>&1 >/dev/null) | cat >err
    grep -q '^podbench: rows.csv.part took 0 of 8 configurations and no more: File too large$' err && (cd now && "$PODBENCH" $over --out rows.csv --resume 2>/dev/null) &&
        (cd before && "$PODBENCH" $over 2>/dev/null) | cmp -s - now/rows.csv
    result $? "no room for a sweep's rows within $kib KiB: it goes on where it stopped" "$(cat err)"
done
"$PODBENCH" merge before/s.1-of-2.csv before/s.2-of-2.csv >/dev/full 2>err
[ $? -eq 2 ] && grep -q '^podbench: standard output: cannot be written completely: No space left on device$' err
result $? "a merge into a full device names it" "$(cat err)"
done_testing
