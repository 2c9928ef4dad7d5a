#!/bin/sh
# What comparisons of runs, their history and series that are watched print and write, word for word.
. tests/tap.sh
. tests/printed.sh
bert=mlperf-v1.0-closed-ipu-pod16-bert-large
"$PODBENCH" bench --out "$work/one" >/dev/null 2>&1

show baseline "$work/one" --baseline "$work/base"
show baseline "$work/one" --baseline "$work/base" --reason 'the first'
mkdir "$work/recipes"
for r in tests/root/workloads/recipes/*.ini; do
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
run_of_others "$work/three"
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
printf 'half a line' >>"$work/h.csv"
show history time_to_train_s --from "$work/h.csv"
awk -F, -v OFS=, 'NR == 2 { for (i = 1; i <= NF; i++) if ($i + 0 > 0) last = i; $last = "x" } { print }' "$work/h.csv" >"$work/bad.csv"      # a value that is none
show history mean_abs_error --from "$work/bad.csv" --all
echo 'no header' >"$work/bad.csv"
show history time_to_train_s --from "$work/bad.csv"
show record "$work/one" --from "$work/h.csv" --label second         # said again: in the place of what was
show history throughput_samples_per_s $bert --from "$work/h.csv"
{ head -1 "$work/h.csv"; sed 1d "$work/h.csv" | tac; } >"$work/backwards.csv"           # by their time, however they stand
show history throughput_samples_per_s $bert --from "$work/backwards.csv"
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
done_testing
