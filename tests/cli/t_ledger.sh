#!/bin/sh
# The published tables are as the ledger says, the ledger only ever grew, and calibrate keeps to it.
. tests/tap.sh
PODBENCH=${PODBENCH:-build/podbench}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ledger=results/published/ledger/ledger.csv

"$PODBENCH" ledger >"$work/out" 2>"$work/err" && grep -q 'published rows agree with the ledger' "$work/out"
result $? "every published row has the role, configuration and value of the ledger" "$(cat "$work/out" "$work/err")"

# In the repository's history no line of it was taken out or changed.
if git rev-parse --git-dir >/dev/null 2>&1 && [ "$(git rev-parse --is-shallow-repository)" = false ]; then
    git log --format= --numstat -- $ledger | awk '$2 > 0 { exit 1 }' && ! git diff --numstat HEAD -- $ledger | awk '$2 > 0 { found = 1 } END { exit !found }'
    result $? "the ledger only grew" "$(git log --oneline --numstat -- $ledger | head)"
else
    result 0 "the ledger only grew # SKIP no history here"
fi

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
done_testing
