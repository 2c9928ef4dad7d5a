#!/bin/sh
# What is refused of options and paths, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v2.0-closed-bow-pod16-resnet50

show
show rnu
show --help
for c in $("$PODBENCH" --commands); do
    show "$c" --bananas
    show "$c" --format bananas
    show "$c" a b c d e </dev/null
    [ "$c" = bench ] || [ "$c" = calibrate ] || [ "$c" = check ] || [ "$c" = validate ] || show "$c"
done 2>/dev/null
printed refused

for value in 0 1 -1 1.5 x '' 18446744073709551616 100001; do
    [ "$value" = 100001 ] || show run $resnet --runs "$value" --format csv
    show run $resnet --seed "$value" --runs 1 --format csv
    show sweep $resnet --over parallel.micro_batch=1 --jobs "$value" --out "$work/s.csv"
    rm -f "$work/s.csv"
    show search $resnet --over parallel.micro_batch=8 --over parallel.ipus_per_replica=1 --over parallel.io_tiles=32 --over parallel.available_memory=0.3 \
        --set parallel.recompute=layer --set parallel.optimizer_state=on-chip --set parallel.rts=no --most "$value"
    show sweep $resnet --over parallel.micro_batch=1 --shard "$value/2" --out "$work/s.csv"
    show sweep $resnet --over parallel.micro_batch=1 --shard "1/$value" --out "$work/s.csv"
    rm -f "$work"/s*.csv
    show watch tests/golden/printed/none.csv --least-change "$value"
    show compare none none --margin "$value"
done
printed numbers

for limit in ipus ipus= ipus=x ipus=3..2 ipus=0 ipus=2..x speed=3 throughput=1..2..3 global_batch=-1; do
    show search $resnet --limit "$limit"
done
show search $resnet --maximise energy
show search $resnet --maximise throughput --minimise ipus
show search $resnet --minimise ipus --limit throughput=0.25..0.5 --over parallel.micro_batch=8 --over parallel.ipus_per_replica=1 --over parallel.io_tiles=32 \
    --over parallel.available_memory=0.3 --set parallel.recompute=layer --set parallel.optimizer_state=on-chip --set parallel.rts=no
for over in parallel.micro_batch=1..1e9 parallel.micro_batch=1..9+0 parallel.micro_batch=1..9*1 parallel.micro_batch=1..9+x parallel.micro_batch=, micro_batch=1 \
    parallel.micro_batch=1..1e8+0.5 =3 parallel.=3 .a=3 parallel.micro_batch=1.5..2.5+0.5; do
    show sweep $resnet --over "$over"
done
show sweep $resnet --over parallel.micro_batch=1 --over parallel.micro_batch=2
show sweep $resnet --zip parallel.micro_batch=1,2 --zip parallel.replicas=1
show sweep $resnet --over parallel.micro_batch=1 --out ''
show sweep $resnet --over parallel.micro_batch=1 --out "$work/none/s.csv"
printf 'parallel.micro_batch,x\n1,2\n' >"$work/columns.csv"
printf 'parallel.micro_batch\n' >"$work/rows.csv"
printf 'parallel.micro_batch,parallel.replicas\n"1\n2",2\n' >"$work/lines.csv"
for table in columns rows lines none; do
    show sweep $resnet --from "$work/$table.csv"
done
for set in parallel parallel. .x= parallel.micro_batch= parallel.micro_batch=0 parallel.micro_batch=65537 machine.clock_hz=1 machine.nothing=1 recipe.mode=play \
    parallel.available_memory=0 data.sequence_length=x data.x= data.dataste= optimizer.momentun= framework.session_call= faults.links= faults.link7= open.x= open.data.x= \
    open.faults.link= open.data.dataset=; do
    show run $resnet --set "$set" --format csv
done
for path in '' "$work/none" "$work/columns.csv" /dev/null; do
    for c in check validate compare score lint plot report run machine workload watch plan; do
        show "$c" "$path"
    done
    show record "$path" --label a --from "$work/h.csv"
    [ "$path" = "$work/none" ] || show bench --out "$path"
done
show run $resnet --root "$work"
show run $resnet --root ''
mkdir -p "$work/file/system-model"
: >"$work/file/system-model/specs"
show run $resnet --root "$work/file"
printed paths
done_testing
