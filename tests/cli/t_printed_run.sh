#!/bin/sh
# What run prints of one recipe, in every format, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v1.1-closed-ipu-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large bow=mlperf-v2.0-closed-bow-pod16-resnet50
infer=vendor-ipu-m2000-bert-base-infer-b16 speech=mlperf-v2.0-open-bow-pod64-transformer-transducer

for format in text csv json tap junit markdown annotations; do
    show run $resnet $infer --format $format
done
for format in text csv json markdown; do
    show run $resnet --set machine.clock_hz=2e9 --format $format        # no published run has it: no interval
done
show run $bert --all
show run $bert --framework-options
show run $resnet $infer --framework-options
show run $bert --framework-options --format csv
show run $speech --all
show run $infer --all
show run $bow --all --unfolded --check
show run $resnet --runs 3 --seed 2
show run $resnet --runs 3 --seed 2 --format json
show run $resnet --set parallel.micro_batch=64
show run $resnet --set parallel.micro_batch=64 --require-fit --format tap
show run $resnet --set parallel.micro_batch=64 --format json
show run $resnet --set cost.price_per_hour=36 --set machine.tdp_w= --set machine.board_power_w= --format json
show run $resnet --set parallel.embedding_serial_steps=4
show run $bert --runs 40 --seed 9
show run $infer --mllog "$work/logs"
show run $bow --set framework.sdk=9.9
show run $infer --runs 2
show run $bert --set parallel.micro_batch=8 --set parallel.layers_per_ipu=
show run vendor-ipu-pod16-resnet50-pipelined --set parallel.micro_batch=96 --set parallel.layers_per_ipu=
show run $bert --runs 5 --seed 2 --set training.target=0.9
show run $resnet --runs 5 --seed 11 --set training.epochs=30
for layers in 3,2,4,3 2,4,3,3; do     # the second IPU waits most; works most
    show run $bert --set recipe.workload=bert-base --set parallel.layers_per_ipu=$layers
done
show run $bert --set recipe.workload=bert-base --set parallel.ipus_per_replica=8 --set parallel.replicas=2 --set parallel.layers_per_ipu=1,2,1,2,2,1,2,1
for batches in 300 400; do            # the third IPU waits a tenth and a little; less, which is not told
    show run $bert --set parallel.layers_per_ipu=6,6,6,6 --set parallel.gradient_accumulation=$batches
done
for format in text json; do
    show run $infer --set open.precision.partials=fp32 --set 'open.parallel.io_tiles=32 | 64' --set open.hosts.cores=64 --format $format
    show run $resnet --set hosts.steps_per_call= --format $format
done
show run $infer --set open.precision.partials=fp16
show run $infer --set open.precision.partials=fp32 --set precision.partials=fp32
printed run
done_testing
