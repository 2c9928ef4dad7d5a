#!/bin/sh
# What sweeps and searches print, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v2.0-closed-bow-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large

show sweep $resnet --over parallel.micro_batch=7,16,64 --zip parallel.replicas=16,8 --zip parallel.gradient_accumulation=10,20
show sweep $resnet --over parallel.micro_batch=2..8*2 --over parallel.replicas=1..16+15 --format json
show sweep $resnet --over machine.clock_hz=1.4e9,1.5e9 --format json
show sweep $resnet --over parallel.micro_batch=1..5 --shard 2/2 --out "$work/part.csv"
show_file "$work/part.2-of-2.csv"
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/part.csv"
show merge "$work/part.1-of-2.csv" "$work/part.2-of-2.csv"
show merge "$work/part.1-of-2.csv"
show sweep $resnet --over parallel.micro_batch=9..1
show sweep $resnet --over parallel.micro_batch
show sweep $resnet --over parallel.micro_batch=1,2 --over parallel.replicas=1,2 --set parallel.replicas=4
show sweep $resnet --zip parallel.micro_batch=1,2 --zip parallel.replicas=1,2 --set parallel.replicas=4
show sweep $resnet --over parallel.replicas=8 --set parallel.io_tiles=32         # another key of as many letters
show sweep $resnet --over parallel.replicas=8,16 --over parallel.embedding_serial_steps=2
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/part.csv"
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/part.csv" --resume
for change in '2d' '2s/^1,5,/1,5;/' '2s/^1,/1;/' '2s/,mlperf/;mlperf/' '2s/^1,5,./1,5,0/' 's/^2,/3,/' 's/^2,5/2,6/' '3s/.*/a row of nothing/'; do
    sed "$change" "$work/part.1-of-2.csv" >"$work/bad.1-of-2.csv.part"
    show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/bad.csv" --resume
done
show sweep $resnet --over parallel.micro_batch=1..5 --shard 2/4 --out "$work/part"
show_file "$work/part.2-of-4"
sed 3d "$work/part.1-of-2.csv" >"$work/short.1-of-2.csv"
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/short.csv" --resume
show sweep $resnet --over parallel.micro_batch=1..5 --shard 2/2 --out "$work/part.csv" --resume
sed '$d' "$work/part.1-of-2.csv" >"$work/short.1-of-2.csv"          # whole as far as it goes
show sweep $resnet --over parallel.micro_batch=1..5 --shard 1/2 --out "$work/short.csv" --resume
"$PODBENCH" sweep $resnet --over parallel.micro_batch=1..3 --format json >/dev/full 2>"$work/err"
echo "= $?" | cat "$work/err" - >>"$work/shown"
printed sweep

fixed="--set parallel.recompute=layer --set parallel.optimizer_state=on-chip --set parallel.rts=no"
show search $resnet $fixed --over parallel.micro_batch=8,16 --over parallel.available_memory=0.3,0.6 --over parallel.ipus_per_replica=1
show search $resnet $fixed --over parallel.micro_batch=8,16 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=1 --format json
show search $resnet $fixed --over parallel.micro_batch=8,16 --over parallel.ipus_per_replica=1 --set open.precision.partials=fp32
show search $resnet $fixed --over parallel.micro_batch=8,16 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=1 --minimise energy
show search $resnet $fixed --over parallel.micro_batch=8..12 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=1 --minimise time-to-train
show search $resnet $fixed --over parallel.micro_batch=12 --over parallel.ipus_per_replica=1 --over parallel.io_tiles=32 --limit throughput=20000..1e9 --minimise ipus
show search $bert --over parallel.micro_batch=2,3 --over parallel.available_memory=0.3 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=4 --most 3 --framework-options
# Whole spaces: how many configurations had to be simulated tells how sharp the bounds are.
infer=vendor-ipu-m2000-bert-base-infer-b16
show search $infer
show search $infer --limit tokens=1000..4000 --limit global_batch=1..1000
show search $infer --over data.sequence_length=64,128 --over parallel.micro_batch=1,16 --set machine.clock_hz=1.4e9 --format json
deep="$bert --set recipe.workload=bert-base --set parallel.layers_per_ipu=1,3,4,4 --over parallel.micro_batch=4,8 --over parallel.available_memory=0.2"
deep="$deep --over parallel.io_tiles=32"
show search $deep --over parallel.ipus_per_replica=1,2,4
show search $deep --over parallel.ipus_per_replica=4 --over parallel.recompute=none,stage --over parallel.stash_type=fp16,fp8
show search $deep --over parallel.ipus_per_replica=2,4 --minimise ipus --limit ipus=2..16 --limit throughput=1000..1e9
show search $deep --over parallel.ipus_per_replica=4 --minimise time-to-train --limit ipus=4..16 --most 700
show search $deep --over parallel.ipus_per_replica=4 --minimise energy --limit tokens=5e5..1e6 --most 700
for set in parallel.stash_type=fp8 parallel.schedule=sequential; do
    show search $deep --over parallel.ipus_per_replica=4 --set $set --most 100
    show search $deep --over parallel.ipus_per_replica=2,4 --set $set --minimise time-to-train --limit global_batch=1500..6000 --most 200
done
show search $deep --over parallel.ipus_per_replica=4 --over parallel.schedule=grouped,interleaved --set framework.schedules=popart,grouped,interleaved --most 100
# Limits that are open at one end.
open="$resnet $fixed --over parallel.micro_batch=8,16 --over parallel.io_tiles=32 --over parallel.ipus_per_replica=1 --over parallel.available_memory=0.3"
show search $open --limit ipus=..16 --limit throughput=20000.. --minimise ipus
show search $open --limit ipus=8.. --limit global_batch=3000..6000 --most 40
show search $open --limit "ipus=000000000000000000000000000000000000004..8" --limit global_batch=..2000
show search $open --limit global_batch=1e30..1e31       # more than any number of steps reaches
show search $open --limit "ipus=0000000000000000000000000000000000000004..8"
show search $bert --set parallel.available_memory=0.1,0.2
show search $resnet --minimise nothing
show search $resnet $fixed --set training.converge=model --set training.epochs= --over parallel.micro_batch=8,16 --over parallel.io_tiles=32 \
    --over parallel.ipus_per_replica=1 --limit ipus=4..16 --limit global_batch=1000..6000 --minimise time-to-train
# One batch alone is within the limit.
show search $resnet $fixed --set training.converge=model --set training.epochs= --over parallel.micro_batch=8 --over parallel.io_tiles=32 \
    --over parallel.ipus_per_replica=1 --limit ipus=16..16 --limit global_batch=1920..1920 --minimise time-to-train
printed search
show ask bert on 16 bow --most 5 --out "$work/asked.ini"
show ask "resnet-50" on bow-pod16 train fits with 95 % --most 5 --out "$work/asked.ini" --format json
show_file "$work/asked.ini"
show ask bert on 16 h100
printed ask
done_testing
