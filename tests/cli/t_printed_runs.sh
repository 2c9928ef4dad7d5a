#!/bin/sh
# What runs of many recipes print and write, word for word.
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
SOURCE_DATE_EPOCH=never show check --published "$work/strict.csv" --format junit
# What a killed writer left is finished by who reads it, where it is whole.
cp -r "$work/one" "$work/killed"
for file in rows.csv manifest.json; do
    mv "$work/killed/$file" "$work/killed/$file.4194303.new"
done
echo '{"files": {"rows.csv": "xxh3:0"}}' >"$work/killed/manifest.json.4194302.new"
show check "$work/killed" --format markdown
ls "$work/killed" >>"$work/shown"
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

show baseline "$work/one" --baseline "$work/base"
show baseline "$work/one" --baseline "$work/base" --reason 'the first'
mkdir "$work/recipes"
for r in tests/root/workloads/recipes/*; do
    sed 's/^gradient_accumulation = 10$/gradient_accumulation = 11/; s/^micro_batch = 12$/micro_batch = 64/' "$r" >"$work/recipes/${r##*/}"
done
show bench --recipes "$work/recipes" --out "$work/two"
for format in text json tap junit markdown annotations; do
    show compare --baseline "$work/base" "$work/two" --format $format
done
show compare "$work/one" "$work/two" --all
show compare "$work/one" "$work/two" --margin 0.9
show compare "$work/one" "$work/one"
show compare --baseline "$work/nothing" "$work/one"
show diff "$work/one" "$work/two"
show diff "$work/one" "$work/two" --format json
show diff "$work/one" "$work/two" --set parallel.replicas=1
show compare "$work/one/rows.csv" "$work/two"
show compare "$work/one" "$work/two/rows.csv"
for r in tests/root/workloads/recipes/*; do
    sed 's/^\(gradient_accumulation\|micro_batch\|instances\|loss_scale\) = \(.*\)$/\1 = 1\2/; s/^stochastic_rounding = yes/stochastic_rounding = no/' "$r" >"$work/recipes/${r##*/}"
done
rm "$work/recipes/vendor-dss8440-resnet50-tf1.ini"
"$PODBENCH" bench --recipes "$work/recipes" --out "$work/three" >/dev/null 2>&1
for format in text markdown; do
    show compare "$work/one" "$work/three" --format $format
done
show baseline "$work/two" --baseline "$work/base" --reason 'larger, and said'
show_file "$work/base/reasons.csv"
printed compare

export SOURCE_DATE_EPOCH=86400
show record "$work/one" --from "$work/h.csv" --label first
SOURCE_DATE_EPOCH=172861
show record "$work/two" --from "$work/h.csv" --label second
show history throughput_samples_per_s --from "$work/h.csv"
show history throughput_samples_per_s $bert --from "$work/h.csv"
show history mean_abs_error --from "$work/h.csv" --all
show history time_to_train_s --from "$work/h.csv" --format csv
show history time_to_train_s --from "$work/h.csv" --format json
echo 'half a line' >>"$work/h.csv"
show history time_to_train_s --from "$work/h.csv"
awk -F, -v OFS=, 'NR == 2 { for (i = 1; i <= NF; i++) if ($i + 0 > 0) last = i; $last = "x" } { print }' "$work/h.csv" >"$work/bad.csv"      # a value that is none
show history mean_abs_error --from "$work/bad.csv" --all
echo 'no header' >"$work/bad.csv"
show history time_to_train_s --from "$work/bad.csv"
show record "$work/one" --from "$work/h.csv" --label second         # said again: in the place of what was
show history throughput_samples_per_s $bert --from "$work/h.csv"
show history nothing --from "$work/h.csv"
sed 's/,[^,]*$//' "$work/h.csv" >"$work/bad.csv"      # a cell less in each line, the header too; then in all but that
show history time_to_train_s --from "$work/bad.csv"
{ head -1 "$work/h.csv"; sed '1d; s/,[^,]*$//' "$work/h.csv"; } >"$work/bad.csv"
show history time_to_train_s --from "$work/bad.csv"
{ head -1 "$work/h.csv"; sed '1d; s/$/,x/' "$work/h.csv"; } >"$work/bad.csv"
show history time_to_train_s --from "$work/bad.csv"
mkdir "$work/bin" "$work/it's"
printf '#!/bin/sh\necho "$@" >>"%s/drawn"\n' "$work" >"$work/bin/gnuplot"
chmod +x "$work/bin/gnuplot"
drawn_by() { # PATH ARGUMENT...
    old=$PATH PATH=$1
    shift
    "$PODBENCH" "$@" >/dev/null 2>"$old_err"
    echo "= $?" >>"$old_err"
    PATH=$old
    plain <"$old_err" >>"$work/shown"
}
old_err=$work/said
drawn_by "$work/bin" history throughput_samples_per_s --from "$work/h.csv" --out "$work/it's/h.svg"
drawn_by "$work/none" history throughput_samples_per_s --from "$work/h.csv" --out "$work/it's/h.svg"
drawn_by "$work/none" plot "$work/one"
show_file "$work/drawn" "$work/it's/h.svg.csv"
for name in a.svg .svg a.png; do        # of no folder; without a name
    (here=$PWD && cd "$work" && case $PODBENCH in /*) ;; *) PODBENCH=$here/$PODBENCH ;; esac &&
        PATH=$work/bin PODBENCH_ROOT=$here/tests/root "$PODBENCH" history throughput_samples_per_s --from h.csv --out $name >/dev/null 2>"$old_err"
        echo "= $?" >>"$old_err")
    plain <"$old_err" >>"$work/shown"
done
printed history

awk 'BEGIN { print "commit,step_time_s"; for (i = 0; i < 70; i++) print "c" i "," 10 + (i * 7 % 11) / 100 + (i > 40) * 0.7 }' >"$work/series.csv"
for format in text json tap junit markdown annotations; do
    show watch "$work/series.csv" --format $format
done
show watch "$work/series.csv" --better higher
show watch "$work/series.csv" --least-change 0.2
head -30 "$work/series.csv" >"$work/short.csv"
show watch "$work/short.csv"
for share in 0.45 0.8 0.97; do       # of each point that is left in the next
    for step in 0 0.5 1 2; do
        awk -v share=$share -v step=$step 'BEGIN { print "commit,step_time_s"
            for (i = 0; i < 160; i++) { x = share * x + (i * 7919 % 101 - 50) / 500; print "c" i "," 10 + x + (i > 120) * step } }' >"$work/series.csv"
        show watch "$work/series.csv" --format json
    done
done
printed watch

# A gnuplot that draws nothing but what it is told.
cat >"$work/bin/gnuplot" <<'EOF'
#!/bin/sh
echo "$@" >>drawn.txt
name=$(echo "$3" | sed "s/.*; name=.\\([a-z-]*\\).;.*; format=.\\([a-z]*\\).\$/\\1.\\2/")
echo "<svg>$name</svg>" >"$name"
EOF
chmod +x "$work/bin/gnuplot"
show_plot() { PATH="$work/bin:$PATH" show plot "$work/one"; }
show_plot
for file in "$work"/one/figures/*; do
    echo "${file##*/}" && cat "$file"
done | plain >>"$work/shown"
printf '#!/bin/sh\nprintf "\\nwarning: empty\\nline 3: no such thing\\n" >&2\nexit 1\n' >"$work/bin/gnuplot"
drawn_by "$work/bin:$PATH" plot "$work/one"
printed plot
show report "$work/one"
sed -n '/<body/,$p' "$work/one/report.html" | plain >>"$work/shown"
"$PODBENCH" bench --published tests/root/results/published/vendor.csv --out "$work/vendor" >/dev/null 2>&1
show report "$work/vendor" --published tests/root/results/published/vendor.csv
sed -n "/<table/,/<.table>/p" "$work/vendor/report.html" | plain >>"$work/shown"
"$PODBENCH" report "$work/three" >/dev/null 2>&1
grep '<div><b>' "$work/three/report.html" >>"$work/shown"           # errors so large that their digits show
printed report

show init "$work/mine"
show_file "$work"/mine/* 2>/dev/null
show_file "$work"/mine/recipes/* "$work"/mine/published/*
show init "$work/mine"
printed init
done_testing
