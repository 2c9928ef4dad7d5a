#!/bin/sh
# A source tree in a folder with spaces and other letters, which nothing writes to: the program finds its data, make quotes its paths and
# leaves all it makes in B.
. tests/tap.sh
tree="$work/räum lich ß" here=$PWD
mkdir -p "$tree/build" "$work/b"
for part in Makefile bench.mk explorer harness plots results system-model tests workloads; do cp -rs "$here/$part" "$tree/"; done
rm -rf "$tree/results/runs"
cp "$PODBENCH" "$tree/build/podbench"
cp "$PODBENCH" "$work/b/podbench"
PODBENCH="$tree/build/podbench"
id=vendor-c600-resnet50-b1-poprt
touch "$work/before"
# What is new in the tree, or behind its links.
written() { find -L "$tree" -newer "$work/before" -type f ! -path '*/build/*' 2>/dev/null | head -n 5; }

# ---- the program
cd "$work" || exit 1
run run $id
gives 0 "$id" "the program finds the data of the tree it stands in"
mkdir -p "$work/eigene Rezepte"
sed 's/^id = .*/id = größer/' "$tree/workloads/recipes/$id.ini" >"$work/eigene Rezepte/größer.ini"
run bench --recipes "eigene Rezepte" --out "neuer Lauf"
gives 0 "" "recipes and a run in folders of such names"
[ -e "neuer Lauf/manifest.json" ]
result $? "the run is there"
run compare "neuer Lauf" "neuer Lauf"
gives 0 "the same" "and is read"
run run "eigene Rezepte/größer.ini" --format json
gives 0 '"id": "größer"' "a recipe's name in other letters"
run timeline "$tree/workloads/recipes/$id.ini" --trace "eine Spur.json"
[ "$status" -eq 0 ] && [ -s "eine Spur.json" ]
result $? "a recipe and a trace by their paths" "$(cat "$work/err")"
run sweep "eigene Rezepte/größer.ini" --over parallel.micro_batch=1,2 --out "alle Größen.csv"
[ "$status" -eq 0 ] && [ "$(wc -l <"alle Größen.csv")" -eq 3 ]
result $? "a sweep" "$(cat "$work/err")"
run init "neues Projekt"
gives 0 "make cannot include files from $tree because of blanks or signs in its name" "a project that make cannot take from there is told so"
refuses "$tree/nicht da.ini: No such file" "a path that is not there is named whole" run "$tree/nicht da.ini"

# ---- make
cd "$tree" || exit 1
make -n bench test lint asan fuzz mutate plots gate golden readme REASON=x >"$work/commands" 2>"$work/err"
result $? "make says what it would do" "$(head -n 3 "$work/err")"
unquoted=$(sed "s/\"[^\"]*\"//g; s/'[^']*'//g" "$work/commands" | grep -v '^make\|^cd ' | grep -o '.\{0,40\}räum lich.\{0,20\}' | head -n 3)
[ -z "$unquoted" ] && grep -q 'räum lich' "$work/commands"
result $? "every path of the tree is quoted in what make runs" "$unquoted"
find "$tree" -type d -exec chmod a-w {} +       # root may write all the same, and is looked after below
make --no-print-directory B="$work/b" -o "$work/b/podbench" "$work/b/runs/latest/rows.csv" >"$work/out" 2>"$work/err"
[ -s "$work/b/runs/latest/rows.csv" ] && [ -s "$work/b/bench.txt" ]
result $? "with B elsewhere a run goes there" "$(tail -n 3 "$work/err")"
found=$(written)
find "$tree" -type d -exec chmod u+w {} +
[ -z "$found" ]
result $? "and nothing is written to the source" "$found"
done_testing
