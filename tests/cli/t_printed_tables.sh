#!/bin/sh
# What is printed of tables written by hand: a history of large changes, rows that left the ledger, and figures of each kind; word for word.
. tests/tap.sh
. tests/printed.sh

# Three series: one that doubles and falls back, one that rises by an eighth from its third point on, one that comes late and falls by a third.
# Of the inputs those of the second and the fourth point are their own.
{
    echo label,time,version,inputs,recipe,metric,value,unit
    row() { echo "$1,2001-02-0$2T03:04:05Z,$3,xxh3:$4,$5,$6,$7,$8"; }
    i=0
    for values in '40 200 -' '80 200 -' '80 225 9' '30 225 6'; do
        i=$((i + 1))
        set -- $values
        row "c$i" $i 0.$((i / 3)) $((i % 2 * i)) up_down throughput_samples_per_s "$1" samples/s
        row "c$i" $i 0.$((i / 3)) $((i % 2 * i)) rising throughput_samples_per_s "$2" samples/s
        [ "$3" = - ] || row "c$i" $i 0.$((i / 3)) $((i % 2 * i)) late throughput_samples_per_s "$3" samples/s
        row "c$i" $i 0.$((i / 3)) $((i % 2 * i)) rising time_to_train_s $((700 - 70 * i)) s
        row "c$i" $i 0.$((i / 3)) $((i % 2 * i)) late latency_s 0.0$((20 + i % 2)) s
    done
} >"$work/h.csv"
show history throughput_samples_per_s --from "$work/h.csv"
show history throughput_samples_per_s --from "$work/h.csv" --all
show history time_to_train_s --from "$work/h.csv"
show history latency_s late --from "$work/h.csv"
show history throughput_samples_per_s late --from "$work/h.csv" --format csv
show history throughput_samples_per_s up_down --from "$work/h.csv" --format json
show history throughput_samples_per_s up_dawn --from "$work/h.csv"
show history latency_s rising --from "$work/h.csv"
show history latncy_s --from "$work/h.csv"
show history latncy_s late --from "$work/h.csv"
mkdir "$work/bin"
printf '#!/bin/sh\necho "$@" >>"%s/drawn"\n' "$work" >"$work/bin/gnuplot"
chmod +x "$work/bin/gnuplot"
for metric in throughput_samples_per_s latency_s; do
    drawn_by "$work/bin" history $metric --from "$work/h.csv" --out "$work/h.svg"
    show_file "$work/h.svg.csv"
done
drawn_by "$work/bin" history latency_s --from "$work/h.csv" --out "$work/.svg"
awk -F, '$1 != "c4" || $5 == "late"' "$work/h.csv" | sed 's/^c3\(.*rising.*\),225,/c3\1,200,/' >"$work/flat.csv"
drawn_by "$work/bin" history throughput_samples_per_s rising --from "$work/flat.csv" --out "$work/h.svg"
show_file "$work/h.svg.csv" "$work/drawn"
printed series

# Rows that left the ledger's side: another role, another value, a row that is new, and one that is gone.
mkdir "$work/root"
cp -rL tests/root/system-model tests/root/workloads tests/root/results "$work/root"
chmod -R u+w "$work/root"
published=$work/root/results/published
sed -i '/^vendor-J03,/s/,validate,/,calibrate,/; /^vendor-K-FP16-1,/s/,3529,/,3530,/; /^vendor-D02,/d' "$published/vendor.csv"
sed -n 's/^vendor-D01,/vendor-D99,/p' tests/root/results/published/vendor.csv >>"$published/vendor.csv"
for format in text csv tap junit markdown annotations; do
    show ledger --root "$work/root" --format $format
done
printed ledger

# A latency, a time of less than a minute, figures of other metrics, and those of another recipe whose name begins alike.
infer=vendor-ipu-m2000-bert-base-infer-b16
cp tests/root/results/published/vendor.csv "$published/vendor.csv"
{
    echo "made-1,$infer,,latency_s,0.0045,s,0.1,validate,here,,"
    echo "$infer.speed,$infer,,throughput_samples_per_s,13000,samples/s,0.1,calibrate,here,,"
    echo "made-3,$infer,,mfu,0.5,share,0.1,context,here,,"
    echo "$infer-too,$infer,,latency_s,0.003,s,0.1,context,here,,"
} >>"$published/vendor.csv"
show run $infer --root "$work/root"
echo "made-4,mlperf-v1.1-closed-ipu-pod16-resnet50,,time_to_train_min,0.5,min,0.1,validate,here,," >>"$published/vendor.csv"
sed -i 's/^epochs = .*/epochs = 0.2/' "$work/root/workloads/recipes/mlperf-v1.1-closed-ipu-pod16-resnet50.ini"
show run mlperf-v1.1-closed-ipu-pod16-resnet50 --root "$work/root"
printed figures
done_testing
