#!/bin/sh
# What sweeps, searches and runs of many recipes print and write, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v2.0-closed-bow-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large

show sweep $resnet --over parallel.micro_batch=7,16,64 --zip parallel.replicas=16,8 --zip parallel.gradient_accumulation=10,20
show sweep $resnet --over parallel.micro_batch=2..8*2 --over parallel.replicas=1..16+15 --format json
show sweep $resnet --over parallel.micro_batch=1..5 --shard 2/2 --out "$work/part.csv"
show_file "$work/part.2-of-2.csv"
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/part.csv"
show merge "$work/part.1-of-2.csv" "$work/part.2-of-2.csv"
show merge "$work/part.1-of-2.csv"
show sweep $resnet --over parallel.micro_batch=9..1
show sweep $resnet --over parallel.micro_batch
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/part.csv"
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/part.csv" --resume
for change in '2d' 's/^2,/3,/' 's/^2,5/2,6/' '3s/.*/a row of nothing/'; do
    sed "$change" "$work/part.1-of-2.csv" >"$work/bad.1-of-2.csv.part"
    show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/bad.csv" --resume
done
printed sweep

fixed="--set parallel.recompute=layer --set parallel.optimizer_state=on-chip --set parallel.rts=no"
show search $resnet $fixed --over parallel.micro_batch=8,16 --over parallel.available_memory=0.3,0.6 --over parallel.ipus_per_replica=1
show search $resnet $fixed --over parallel.micro_batch=8,16 --over parallel.ipus_per_replica=1 --format json
show search $resnet $fixed --over parallel.micro_batch=8,16 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=1 --minimise energy
show search $resnet $fixed --over parallel.micro_batch=8..12 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=1 --minimise time-to-train
show search $resnet $fixed --over parallel.micro_batch=12 --over parallel.ipus_per_replica=1 --over parallel.io_tiles=32 --limit throughput=20000..1e9 --minimise ipus
show search $bert --over parallel.micro_batch=2,3 --over parallel.available_memory=0.3 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=4 --most 3
# Whole spaces: how many configurations had to be simulated tells how sharp the bounds are.
infer=vendor-ipu-m2000-bert-base-infer-b16
show search $infer
show search $infer --limit tokens=1000..4000 --limit global_batch=1..1000
show search $infer --over data.sequence_length=64,128 --over parallel.micro_batch=1,16 --format json
deep="$bert --set recipe.workload=bert-base --set parallel.layers_per_ipu=1,3,4,4 --over parallel.micro_batch=4,8 --over parallel.available_memory=0.2"
deep="$deep --over parallel.io_tiles=32"
show search $deep --over parallel.ipus_per_replica=1,2,4
show search $deep --over parallel.ipus_per_replica=4 --over parallel.recompute=none,stage --over parallel.stash_type=fp16,fp8
show search $deep --over parallel.ipus_per_replica=2,4 --minimise ipus --limit ipus=2..16 --limit throughput=1000..1e9
show search $deep --over parallel.ipus_per_replica=4 --minimise time-to-train --limit ipus=4..16 --most 700
show search $deep --over parallel.ipus_per_replica=4 --minimise energy --limit tokens=5e5..1e6 --most 700
printed search

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
show_file "$work"/validity/*
for format in text csv tap; do
    show ledger --format $format
done
show check --published tests/root/links.csv --format csv
show check --published tests/root/links.csv --format markdown
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
echo 'no header' >"$work/bad.csv"
show history time_to_train_s --from "$work/bad.csv"
show history nothing --from "$work/h.csv"
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
printed history

awk 'BEGIN { print "commit,step_time_s"; for (i = 0; i < 70; i++) print "c" i "," 10 + (i * 7 % 11) / 100 + (i > 40) * 0.7 }' >"$work/series.csv"
for format in text json tap junit markdown annotations; do
    show watch "$work/series.csv" --format $format
done
show watch "$work/series.csv" --better higher
show watch "$work/series.csv" --least-change 0.2
head -30 "$work/series.csv" >"$work/short.csv"
show watch "$work/short.csv"
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
printed report

show init "$work/mine"
show_file "$work"/mine/* 2>/dev/null
show_file "$work"/mine/recipes/* "$work"/mine/published/*
show init "$work/mine"
show manual
show manual watch
for shell in bash zsh fish; do
    show completion $shell
done
printed init
done_testing
