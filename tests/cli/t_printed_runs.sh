#!/bin/sh
# What runs of many recipes, their checks and the audit print and write, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v2.0-closed-bow-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large

show bench --out "$work/one"
show_file "$work/one/rows.csv" "$work/one/check.csv" "$work/one/manifest.json"
show bench --kernels --out "$work/kernels"
show bench --links --out "$work/links" --format csv
show bench --links --out "$work/links" --format json
printed bench

for format in text csv json tap junit markdown annotations; do
    show check "$work/one" --format $format
done
printf 'id,reason\nvendor-*,not looked at\nmlperf-v1.1*step,known\n' >"$work/expected.csv"
show check "$work/one" --expect "$work/expected.csv" --format tap
show check "$work/one" --published tests/root/results/published/vendor.csv
show validate "$work/one" --out "$work/validity"
show validate "$work/one" --format json
show validate --published tests/root/results/published/memory.csv       # where what fits comes first
show validate --published tests/root/results/published/vendor.csv
show_file "$work"/validity/*
for format in text csv tap; do
    show ledger --format $format
done
show check --published tests/root/links.csv --format csv
show check --published tests/root/link-grid.csv --format csv        # every experiment at the ends of its tiles, on one chip, two and four
show check --published tests/root/links.csv --format markdown
sed 's/,0\.1,calibrate/,0.001,calibrate/' tests/root/links.csv >"$work/strict.csv"
show check --published "$work/strict.csv" --format markdown
head -8 "$work/strict.csv" >"$work/few.csv"
show check --published "$work/few.csv" --format junit
cp -r "$work/one" "$work/killed"
echo >>"$work/killed/rows.csv"
show check "$work/killed"
show check "$work/none"
# A run remembers where its recipes and figures were; an option is heard before that.
mkdir "$work/own" "$work/figures"
cp tests/root/workloads/recipes/vendor-ipu-m2000* "$work/own"
cp tests/root/results/published/memory.csv "$work/figures"
sed -i '2,$d' "$work/figures/memory.csv"
echo 'mine,vendor-ipu-m2000-bert-base-infer-b16,fits,0,yes=1,0.5,validate,here,,' >>"$work/figures/memory.csv"
show bench --recipes "$work/own" --published "$work/figures" --out "$work/remembered"
show check "$work/remembered"
show check "$work/remembered" --published tests/root/results/published/memory.csv
show check "$work/remembered" --recipes tests/root/workloads/recipes --published tests/root/results/published/memory.csv
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "breakdown_sync_s") at = i } NR == 2 { $at = "late" } { print }' "$work/one/rows.csv" >"$work/rows.csv"
show check "$work/rows.csv"
# What cannot be written leaves nothing behind.
mkdir -p "$work/taken/manifest.json"
show bench --recipes "$work/own" --published "$work/figures" --out "$work/taken"
ls "$work/taken" >>"$work/shown"
# Of another version: a row of other columns, no list of files, no manifest that can be read.
cp -r "$work/one" "$work/old"
sed -i 's/"schema": "[^"]*"/"schema": "xxh3:0"/; s/"podbench": "[^"]*"/"podbench": "0.1"/' "$work/old/manifest.json"
for text in "$(cat "$work/old/manifest.json")" '{"podbench": "0.1"}' '{"files": 3, "schema": "x"}' '{"files": {}}' '[' ''; do
    printf '%s\n' "$text" >"$work/old/manifest.json"
    show check "$work/old"
done
printed check

show audit
for format in text csv json markdown; do
    show audit --all --format $format
done
printed audit
done_testing
