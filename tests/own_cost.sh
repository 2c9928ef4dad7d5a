#!/bin/sh
# own_cost.sh [record] - instructions that fixed work takes (valgrind), beside those recorded in tests/own_cost.csv: exit 1 when one
# has moved by more than 1 %. Counts are of one compiler and C library: with others there is nothing to compare, and that is said.
set -u
export LC_ALL=C
PODBENCH=${PODBENCH:-build/podbench}
recorded=tests/own_cost.csv
command -v valgrind >/dev/null 2>&1 || { echo "own-cost: valgrind is not here; install it with: apt-get install valgrind" >&2; exit 2; }
with="$(${CC:-cc} -dumpfullversion 2>/dev/null || echo unknown) $(uname -m) $(getconf GNU_LIBC_VERSION 2>/dev/null || echo unknown)"
bert=mlperf-v1.1-closed-ipu-pod64-bert-large resnet=mlperf-v1.1-closed-ipu-pod64-resnet50

count() { # ARGUMENT... - instructions of the program
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$PODBENCH" "$@" 2>&1 >/dev/null |
        sed -n 's/.*I *refs: *//p' | tr -d ,
}
work() { # each line: name, then the program's arguments
    cat <<END
cold run of BERT-Large;run $bert --format csv
cold run of ResNet-50;run $resnet --format csv
answer of BERT-Large;run $bert
answer of ResNet-50;run $resnet
micro-batch 1024 of BERT-Large;run $bert --set parallel.micro_batch=1024
warm sweep of BERT-Large, 4000;sweep $bert --jobs 1 --over parallel.replicas=1..8 --over parallel.gradient_accumulation=32..156+1 --over parallel.schedule=popart,sequential --over hosts.steps_per_call=1,2
warm sweep of ResNet-50, 4000;sweep $resnet --jobs 1 --over parallel.replicas=8..64+8 --over parallel.gradient_accumulation=1..500
new plans of BERT-Large, 480;sweep $bert --jobs 1 --over parallel.available_memory=0.1,0.2,0.3,0.4 --over parallel.recompute=none,stage,layer --over parallel.gradient_accumulation=32..71
BERT-Large on 65536 chips, folded;run $bert --format csv --set recipe.system=ipu-65536 --set parallel.replicas=8192 --set hosts.count=1024
BERT-Large on 4096 chips, unfolded;run $bert --format csv --unfolded --set recipe.system=ipu-65536 --set parallel.replicas=512 --set hosts.count=64
END
}

same_tools=no
[ -e "$recorded" ] && [ "$(sed -n '1s/^# with //p' "$recorded")" = "$with" ] && same_tools=yes
[ "${1:-}" = record ] && { echo "# with $with"; echo "work,instructions"; } >"$recorded.new"
status=0
work | {
    while IFS=';' read -r name arguments; do
        # shellcheck disable=SC2086
        n=$(count $arguments)
        [ -n "$n" ] || { echo "own-cost: '$name' could not be counted" >&2; exit 2; }
        before=$(sed -n "s/^\"$name\",//p" "$recorded" 2>/dev/null)
        [ "${1:-}" = record ] && echo "\"$name\",$n" >>"$recorded.new"
        awk -v name="$name" -v n="$n" -v before="${before:-0}" -v same="$same_tools" 'BEGIN {
            moved = before ? 100 * (n / before - 1) : 0
            printf "%-36s %14d instructions  %s\n", name, n, !before ? "not recorded" : same == "no" ? "recorded with other tools" : sprintf("%+.2f %%", moved)
            exit same == "yes" && (moved > 1 || moved < -1) }' || status=1
    done
    exit $status
} || status=$?
if [ "${1:-}" = record ]; then
    mv "$recorded.new" "$recorded"
    exit 0
fi
[ "$same_tools" = yes ] || echo "own-cost: recorded with '$(sed -n '1s/^# with //p' "$recorded" 2>/dev/null)', here is '$with': nothing is compared" >&2
[ "$status" -eq 0 ] || echo "own-cost: moved by more than 1 %; if that is meant, record it: make own-cost-record" >&2
exit "$status"
