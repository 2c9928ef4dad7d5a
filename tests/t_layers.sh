#!/bin/sh
# Each room includes only itself and the rooms below it, and every project include names its room.
. tests/tap.sh

allowed() { # ROOM ROOMS-IT-MAY-INCLUDE (alternatives of a pattern)
    wrong=$(grep -nE '^#[[:space:]]*include[[:space:]]*"' "$1"/*.c "$1"/*.h | grep -vE "\"($2)/[a-z_0-9]+\.h\"")
    [ -z "$wrong" ]
    result $? "$1 includes only $2" "$wrong"
}
allowed system-model 'system-model'
allowed workloads 'workloads|system-model'
allowed results 'results|workloads|system-model'
allowed harness 'harness|results|workloads|system-model'

wrong=$(grep -nE '\<(exit|abort|printf|puts|perror)[[:space:]]*\(|\<stderr\>' system-model/*.c workloads/*.c results/*.c |
    grep -vE '^system-model/base\.c:' | grep -vE ':[[:space:]]*(/?\*|//)' | grep -vE '[a-z_]printf')
[ -z "$wrong" ]
result $? "libraries neither print to the terminal nor exit (base.c alone, out of memory)" "$wrong"

wrong=$(grep -nE '\<(setlocale|time|clock|gettimeofday|localtime|rand|srand)[[:space:]]*\(' system-model/*.c workloads/*.c results/*.c |
    grep -vE ':[[:space:]]*(/?\*|//)')
[ -z "$wrong" ]
result $? "no locale, clock or unseeded chance in the model" "$wrong"

wrong=$(grep -nE '^set (x|y)?range|using' plots/*.gp | grep -E 'using [0-9]|using \(' )
[ -z "$wrong" ]
result $? "figures pick columns by name" "$wrong"
done_testing
