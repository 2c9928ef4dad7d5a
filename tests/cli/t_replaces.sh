#!/bin/sh
# What a command writes replaces only what such a command wrote: never its own input, a neighbour, or a file behind a planted link.
. tests/tap.sh
bert=mlperf-v2.0-closed-bow-pod16-resnet50
cp workloads/recipes/$bert.ini "$work/my.ini"
printf 'parallel.micro_batch\n16\n' >"$work/grid.csv"
cp "$work/my.ini" "$work/my.before" && cp "$work/grid.csv" "$work/grid.before"

refuses "my.ini: is there, and does not hold a trace; remove it, or name another file" "timeline: its own recipe" timeline "$work/my.ini" --trace "$work/my.ini"
refuses "grid.csv: is there, and does not hold the rows of a sweep" "sweep: its own grid" sweep $bert --from "$work/grid.csv" --out "$work/grid.csv"
refuses "my.ini: is there, and does not hold the rows of a sweep" "sweep: a recipe" sweep "$work/my.ini" --over parallel.micro_batch=16 --out "$work/my.ini"
cmp -s "$work/my.ini" "$work/my.before" && cmp -s "$work/grid.csv" "$work/grid.before"
result $? "they are as they were"
for i in 1 2; do "$PODBENCH" sweep $bert --over parallel.micro_batch=15,16 --out "$work/s.csv" --shard $i/2 2>/dev/null; done
refuses "s.1-of-2.csv is named twice" "merge: one of its parts" merge "$work/s.1-of-2.csv" "$work/s.2-of-2.csv" --out "$work/s.1-of-2.csv"
refuses "are the same; name it once" "merge: one of its parts by another name" merge "$work/s.1-of-2.csv" "$work/s.2-of-2.csv" --out "$work/./s.1-of-2.csv"
for i in 1 2; do run merge "$work/s.1-of-2.csv" "$work/s.2-of-2.csv" --out "$work/s.csv"; done
result $status "merge: a merged file is replaced" "$(cat "$work/err")"

ln -s "$work/victim" "$work/p.csv.part" && echo mine >"$work/victim"
run sweep $bert --over parallel.micro_batch=16 --out "$work/p.csv"
[ $status -eq 2 ] && [ "$(cat "$work/victim")" = mine ]
result $? "sweep: a planted link is not followed" "$(cat "$work/err")"
if command -v gnuplot >/dev/null 2>&1; then
    "$PODBENCH" bench --recipes tests/root/workloads/recipes --out "$work/run" >/dev/null 2>&1 || "$PODBENCH" bench --out "$work/run" >/dev/null 2>&1
    for label in a b; do "$PODBENCH" record "$work/run" --label $label --from "$work/h.csv" >/dev/null; done
    echo mine >"$work/h.svg.csv"
    run history throughput_samples_per_s --from "$work/h.csv" --out "$work/h.svg"
    gives 2 "h.svg.csv: is there, and does not hold a picture's data" "history: a file beside the picture"
    rm "$work/h.svg.csv"
    for i in 1 2; do run history throughput_samples_per_s --from "$work/h.csv" --out "$work/h.svg"; done
    [ $status -eq 0 ] && [ -z "$(ls "$work" | grep podbench-)" ]
    result $? "history: its own picture is replaced, and nothing is left beside it" "$(cat "$work/err"; ls "$work")"
else
    result 0 "history: the file beside the picture stays # SKIP no gnuplot here"
fi
done_testing
