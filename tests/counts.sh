#!/bin/sh
# counts.sh - instructions that the program takes, by valgrind: a number that no other load of the machine changes. A case that takes more than its
# limit fails; who makes it faster lowers the limit.
#
# usage: counts.sh PODBENCH
set -u
podbench=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
command -v valgrind >/dev/null || { echo "counts.sh: no valgrind: apt install valgrind" >&2; exit 2; }
bert=mlperf-v1.1-closed-ipu-pod64-bert-large n_over=0

# Prints the case, and tells if it is over its limit (in millions).
count() { # LIMIT NAME ARGUMENT...
    limit=$1 name=$2
    shift 2
    millions=$(valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$podbench" "$@" 2>&1 >/dev/null | tr -d , | sed -n 's/.*I *refs: *\([0-9]*\)[0-9]\{6\}$/\1/p')
    [ "${millions:-999999}" -le "$limit" ] && verdict=ok || { verdict=OVER; n_over=$((n_over + 1)); }
    printf '%-34s %6s M instructions, at most %6s: %s\n' "$name" "${millions:-?}" "$limit" "$verdict"
}
count 42 "a cold answer, BERT" run $bert
count 40 "a cold answer, ResNet-50" run mlperf-v1.1-closed-ipu-pod64-resnet50
# An open reading is simulated in each row, and takes as much again; so does the ladder that a torus of wide replicas is compared with.
count 615 "2,320 rows of one plan, BERT" sweep $bert --jobs 1 --set framework.torus_exchanges=full-routes --over parallel.gradient_accumulation=100..2419 --out "$work/rows.csv"
count 1245 "the same with an open reading" sweep $bert --jobs 1 --over parallel.gradient_accumulation=100..2419 --out "$work/open.csv"
count 4560 "search, 20 configurations, BERT" search $bert --jobs 1 --most 20
exit $((n_over > 0))
