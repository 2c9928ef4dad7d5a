#!/bin/sh
# Where the program finds its data: the folder that is named, else beside the program, else here; the first that holds sheets.
. tests/tap.sh
unset PODBENCH_ROOT
here=$PWD
tree() {
    mkdir -p "$1/results" && ln -s "$here/tests/root/system-model" "$here/tests/root/workloads" "$1" && ln -s "$here/tests/root/results/published" "$1/results"
}
program() { mkdir -p "${1%/*}" && cp -L "$PODBENCH" "$1"; }
looks_in() { # FOLDER NAME PROGRAM [OPTION...] - where it looks for recipes
    folder=$1 name=$2 program=$3
    shift 3
    "$program" run nowhere "$@" >"$work/out" 2>"$work/err"
    status=$?
    gives 2 "no recipe 'nowhere' in ${folder}workloads/recipes;" "$name"
}
work=$(cd "$work" && pwd -P)
tree "$work/tree"
tree "$work/usr/share/podbench"
tree "$work/other"
program "$work/tree/build/podbench"
program "$work/tree/build/asan/podbench"
program "$work/tree/build/asan/deeper/podbench"
program "$work/usr/bin/podbench"
mkdir "$work/empty" "$work/file"
mkdir "$work/file/system-model" && touch "$work/file/system-model/specs"
cd "$work/empty" || exit 1

looks_in "$work/tree/" "the tree that the program was built in" ../tree/build/podbench
looks_in "$work/tree/" "and of a build in a folder of its own" ../tree/build/asan/podbench
looks_in "$work/usr/share/podbench/" "what was installed with it" ../usr/bin/podbench
looks_in "$work/other/" "--root is heard before that" ../tree/build/podbench --root "$work/other"
export PODBENCH_ROOT="$work/other"
looks_in "$work/other/" "and PODBENCH_ROOT" ../tree/build/podbench
looks_in "$work/tree/" "--root before PODBENCH_ROOT" ../tree/build/podbench --root "$work/tree"
export PODBENCH_ROOT=
looks_in "$work/tree/" "an empty PODBENCH_ROOT names nothing" ../tree/build/podbench
unset PODBENCH_ROOT
[ "$(../tree/build/podbench --home)" = "$work/tree" ] && PODBENCH_ROOT=$work/other && export PODBENCH_ROOT && [ "$(../tree/build/podbench --home)" = "$work/other" ]
result $? "--home prints it"
unset PODBENCH_ROOT
cd "$work/tree" || exit 1
looks_in "" "paths begin in the folder that the program is run in" build/podbench
cd "$work/other" || exit 1
looks_in "$work/tree/" "data that lie here are not taken for the program's own" ../tree/build/podbench
looks_in "" "beside no data, the program takes those that lie here" ../tree/build/asan/deeper/podbench

cd "$work/empty" || exit 1
PODBENCH="$work/tree/build/asan/deeper/podbench"
refuses "$work/file: holds no system-model/specs (--root)" "a file is no folder of sheets" run nowhere --root "$work/file"
refuses "$work/empty: holds no system-model/specs (--root)" "a root without data" run nowhere --root "$work/empty"
if [ -e /usr/share/podbench ] || [ -e /usr/local/share/podbench ]; then
    result 0 "a program without data # SKIP some is installed here"
else
    refuses "no system-model/specs next to the program or here: name its folder by --root or PODBENCH_ROOT" "a program without data" run nowhere
fi
PODBENCH_ROOT="$work/none" refuses "$work/none: holds no system-model/specs (PODBENCH_ROOT)" "a PODBENCH_ROOT without data" run nowhere

# ---- what is installed is not written to; a tree keeps its runs
mkdir "$work/recipes" && cp "$here/tests/root/workloads/recipes/vendor-ipu-m2000-bert-base-infer-b16.ini" "$work/recipes"
../usr/bin/podbench bench --recipes "$work/recipes" >/dev/null 2>"$work/err" && [ -s podbench-runs/latest/rows.csv ]
result $? "an installed program writes its runs where it is run" "$(cat "$work/err")"
../tree/build/podbench bench --recipes "$work/recipes" >/dev/null 2>"$work/err" && [ -s "$work/tree/results/runs/latest/rows.csv" ]
result $? "a tree keeps its own" "$(cat "$work/err")"
cd "$work/tree" || exit 1
PODBENCH=build/podbench
run check latest
[ "$status" -ne 2 ] && [ -s "$work/out" ]
result $? "a run is found by its name among them" "$(cat "$work/err")"
refuses "none: no such run; known: latest" "one that is not there" check none
run record --label first
gives 0 "recorded latest as first in results/baselines/history.csv" "a tree has its own history"
rm -r results/runs
refuses "latest: no such run; there are none yet: 'podbench bench' makes one" "before there is any" check latest

# ---- tables.csv says how long each table is: one that was cut at the end of a line, or is gone, is refused by every command
cd "$here" || exit 1
whole=$work/whole
mkdir "$whole" && cp -r system-model workloads results "$whole" && rm -rf "$whole/results/runs"
sh harness/tables.sh "$whole" && cut -d, -f1,2 results/validity/tables.csv >"$work/listed" && cut -d, -f1,2 "$whole/results/validity/tables.csv" | cmp - "$work/listed"
result $? "the list of tables is as harness/tables.sh writes it" "$(diff results/validity/tables.csv "$whole/results/validity/tables.csv")"
cd "$whole" || exit 1
PODBENCH="$work/tree/build/podbench"
cut=0
for table in $(find . -name '*.csv' | cut -c3-); do
    cp "$table" "$work/kept"
    lines=$(wc -l <"$work/kept")
    head -n $((lines / 2)) "$work/kept" >"$table"
    run list metrics --root .
    [ "$status" -eq 2 ] && [ ! -s "$work/out" ] && grep -q "^podbench: $table: \(is cut: $((lines / 2)) of $lines lines\|the first row is not that of this file itself\|is empty\)" "$work/err" && cut=$((cut + 1))
    cp "$work/kept" "$table"
done
[ "$cut" -ge 150 ] && [ "$cut" -eq "$(find . -name '*.csv' | wc -l)" ]
result $? "each table cut in half is refused" "$cut of $(find . -name '*.csv' | wc -l); the last: $(cat "$work/err")"
printf %s "$(cat results/published/ledger/decisions.csv)" >"$work/open" && cp "$work/open" results/published/ledger/decisions.csv
refuses "results/published/ledger/decisions.csv: is cut: " "so is one that lost the end of its last line" list metrics --root .
rm results/published/ledger/decisions.csv
refuses "results/published/ledger/decisions.csv: No such file or directory, and results/validity/tables.csv lists it; restore it" "and one that is gone" list metrics --root .
cp "$here/results/published/ledger/decisions.csv" results/published/ledger/ && echo "x" >>results/published/mlperf.csv && sed -i 's/ //g' results/published/vendor.csv
run list metrics --root .
gives 0 "throughput_samples_per_s" "a table with more lines, or with shorter ones, is as long as it should be"
done_testing
