#!/bin/sh
# The published tables are as the ledger says, the ledger only ever grew, and calibrate keeps to it.
. tests/tap.sh
PODBENCH=${PODBENCH:-build/podbench}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ledger=results/published/ledger/ledger.csv

"$PODBENCH" ledger >"$work/out" 2>"$work/err" && grep -q 'published rows agree with the ledger' "$work/out"
result $? "every published row has the role, configuration and value of the ledger" "$(cat "$work/out" "$work/err")"

# In the repository's history no line of these tables was taken out or changed. First sights may get columns at the end: what every commit had in
# the first seven is still there.
grew() {
    git log --format= --numstat -- $1 | awk '$2 > 0 { exit 1 }' && ! git diff --numstat HEAD -- $1 | awk '$2 > 0 { found = 1 } END { exit !found }'
}
keeps_cells() {
    cut -d, -f1-7 $1 >"$work/now"
    for commit in $(git log --format=%h -- $1); do
        git show $commit:$1 | cut -d, -f1-7 | grep -vxFf "$work/now" && return 1
    done
    return 0
}
for table in $ledger results/published/ledger/kept.csv results/published/ledger/first-memory.csv results/published/first-sight.csv; do
    case $table in *first-sight*) holds=keeps_cells ;; *) holds=grew ;; esac
    if git rev-parse --git-dir >/dev/null 2>&1 && [ "$(git rev-parse --is-shallow-repository)" = false ]; then
        $holds $table >"$work/lost"
        result $? "$table only grew" "$(head -3 "$work/lost"; git log --oneline --numstat -- $table | head)"
    else
        result 0 "$table only grew # SKIP no history here"
    fi
done

mkdir -p "$work/root"
cp -r system-model workloads results "$work/root/"
cp -r plots "$work/root/" 2>/dev/null
sed -i 's/^\(vendor-N005,.*\),validate,/\1,calibrate,/' "$work/root/results/published/vendor.csv"
"$PODBENCH" ledger --root "$work/root" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'vendor-N005: role is calibrate; the ledger.s line [0-9]* has validate' "$work/out"
result $? "a row that changes its side is noticed" "$(cat "$work/out" "$work/err")"
"$PODBENCH" ledger --root "$work/root" --format csv >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q '^vendor-N005,calibrate,vendor-bow-pod64-resnet50-pytorch-alcf-64,[0-9a-f]*,$' "$work/out"
result $? "ledger --format csv prints the line to append, its reason left empty" "$(cat "$work/out" "$work/err")"
"$PODBENCH" ledger --root "$work/root" --format tap >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q '^not ok 1 - .*row 1' "$work/out" && grep -q 'vendor-N005: role is calibrate' "$work/out" && [ "$(grep -c '^not ok' "$work/out")" -eq 3 ]
result $? "as tap each row that differs is a test that fails, what is derived of it too" "$(cat "$work/out" "$work/err")"
"$PODBENCH" calibrate --root "$work/root" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'vendor-N005: calibrates here, but vendor-N005 validates by ' "$work/err"
result $? "calibrate refuses a row that validates" "$(cat "$work/err")"

# A wider tolerance, and another value in a recipe: each is a row that fails, by name, in ledger and in check.
cp results/published/vendor.csv "$work/root/results/published/"
sed -i 's/^\(vendor-N005,.*\),0.1,validate,/\1,0.25,validate,/' "$work/root/results/published/vendor.csv"
sed -i 's/^micro_batch = 4$/micro_batch = 8/' "$work/root/workloads/recipes/vendor-ipu-pod4-conformer-pytorch.ini"
"$PODBENCH" check --root "$work/root" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'vendor-N005: tolerance is 0.25; line [0-9]* of kept.csv has 0.1$' "$work/out" \
    && grep -q 'vendor-N018: the values of its recipe are not those of line [0-9]* of kept.csv$' "$work/out"
result $? "check tells of a wider tolerance and of another recipe under the same name" "$(tail -50 "$work/out"; cat "$work/err")"
"$PODBENCH" ledger --root "$work/root" --format csv >"$work/kept" 2>"$work/err"
[ $? -eq 1 ] && grep -q '^vendor-N005,0.25,[0-9a-f]\{16\},$' "$work/kept" && grep -q '^vendor-N018,[0-9.]*,[0-9a-f]\{16\},$' "$work/kept"
result $? "and ledger --format csv prints the lines to append, their reasons left empty" "$(cat "$work/kept" "$work/err")"
grep -q '^  vendor-A05 and 1 more: its recipe changed after its miss at first sight' "$work/out"
result $? "check prints the reasons of earlier changes"

# A sheet that cannot be read is an error of each command that judges by it, and no better accuracy.
cp results/published/vendor.csv "$work/root/results/published/"
cp workloads/recipes/vendor-ipu-pod4-conformer-pytorch.ini "$work/root/workloads/recipes/"
sed -i 's/^n_tiles,[0-9]*/n_tiles,x/' "$work/root/system-model/specs/gc200.csv"
for command in check validate bench; do
    [ $command = bench ] && set -- --out "$work/run" || set --
    "$PODBENCH" $command --root "$work/root" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && grep -q "gc200.csv:[0-9]*: n_tiles: 'x'" "$work/err"
    result $? "$command refuses a broken sheet" "$(head -3 "$work/out"; cat "$work/err")"
done

# Too few runs to fit from: the sheet that cannot be written is not printed.
"$PODBENCH" calibrate --root tests/root >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'too few runs of role calibrate to determine ' "$work/err" && ! grep -qi 'nan' "$work/out" \
    && grep -q '^# fitted-system.csv' "$work/out"
result $? "calibrate prints no number that it cannot know" "$(cat "$work/err"; grep -i nan "$work/out")"
done_testing
