#!/bin/sh
# The rooms stand on floors: each includes only itself and what stands before it in this list, and every include names its room.
. tests/tap.sh

rooms='system-model/base system-model/output
    system-model/machine system-model/graph system-model/network system-model/compiler system-model/plan system-model/timeline system-model/execute
    workloads/data
    workloads/convergence
    results/mlperf
    results/rounds
    workloads/onnx workloads/models workloads/recipe
    results/simulate
    results/submission
    results/train
    results/published
    results/history
    results/calibrate
    results/study
    results/figures
    harness
    explorer'
below=
for room in $rooms; do
    below="$below${below:+|}$room"
    wrong=$(grep -nE '^#[[:space:]]*include[[:space:]]*"' "$room"/*.c "$room"/*.h 2>/dev/null | grep -vE "\"(($below)/[a-z_0-9]+(\.pb-c\.h|\.h|\.def)|podbench_metrics\.def)\"")
    [ -z "$wrong" ]
    result $? "$room includes only itself and the rooms below" "$wrong"
done

wrong=
for folder in $(find system-model workloads results harness explorer -name '*.c' -exec dirname {} + | sort -u); do
    case " $(echo $rooms) " in *" $folder "*) ;; *) wrong="$wrong $folder" ;; esac
done
[ -z "$wrong" ]
result $? "every folder with code has its floor" "$wrong: name it in tests/cli/t_layers.sh"

# A header that ends in _internal.h, or says so, serves its own room alone.
wrong=
for header in $(find system-model workloads results -name '*_internal.h') $(grep -rlE '^ \*.* Private to ' --include='*.h' system-model workloads results); do
    wrong="$wrong$(grep -rlF "\"$header\"" --include='*.[ch]' system-model workloads results harness | grep -v "^$(dirname "$header")/")"
done
[ -z "$wrong" ]
result $? "private headers stay in their room" "$wrong"

wrong=$(find system-model workloads results harness explorer -name '*.[ch]' -exec wc -l {} + | awk '$1 > 600 && $2 != "total"')
[ -z "$wrong" ]
result $? "no file is longer than 600 lines" "$wrong"

library=$(find system-model workloads results -name '*.c')
wrong=$(grep -nE '\<(exit|abort|printf|puts|perror)[[:space:]]*\(|\<stderr\>' $library |
    grep -vE '^system-model/base/arena\.c:' | grep -vE ':[[:space:]]*(/?\*|//)' | grep -vE '[a-z_]printf')
[ -z "$wrong" ]
result $? "libraries neither print to the terminal nor exit (arena.c alone, out of memory)" "$wrong"

wrong=$(grep -nE '\<(setlocale|time|clock|gettimeofday|localtime|rand|srand)[[:space:]]*\(' $library |
    grep -vE ':[[:space:]]*(/?\*|//)')
[ -z "$wrong" ]
result $? "no locale, clock or unseeded chance in the model" "$wrong"

wrong=$(grep -nE 'using [0-9]|[$][0-9]|column[(][0-9]' plots/*.gp)
[ -z "$wrong" ]
result $? "figures pick columns by name" "$wrong"

listed=$(sed -n 's/^wasm_harness := .*,harness\/%.c,\(.*\))$/ \1 /p' explorer/explorer.mk)
wrong=$(grep -o 'command_[a-z_]*[a-z]' explorer/entry.c | sort -u | sed 's/^command_//' | while read -r command; do
    [ ! -f "harness/$command.c" ] || case $listed in *" $command "*) ;; *) echo "$command" ;; esac
done)
[ -n "$listed" ] && [ -z "$wrong" ]
result $? "the page is linked with the commands that it calls" "$wrong"
done_testing
