#!/bin/sh
# What the commands of one recipe print, in every format, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v1.1-closed-ipu-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large bow=mlperf-v2.0-closed-bow-pod16-resnet50
infer=vendor-ipu-m2000-bert-base-infer-b16 speech=mlperf-v2.0-open-bow-pod64-transformer-transducer

show list recipes
show list recipes --format json
show list machines --format json
show list frameworks
show list keys
show list keys --format json
printed list
show list assumptions
show list assumptions --format json
printed assumptions

for format in text csv json; do
    show machine dss8440 --format $format
done
show machine bow-pod64 --topology
show machine ipu-pod16 --topology --format dot
show machine ipu-pod16 --topology --format json
show machine
show machine c600 --format json
show machine nowhere
printed machine

show workload resnet50
show workload resnet18 --ops
show workload nowhere
for option in --ops '--format json' '--set recipe.output=h' '--set recipe.output=nowhere' '--set recipe.mode=infer' '--set parallel.micro_batch=5' \
    '--set parallel.micro_batch=0' '--set parallel.micro_batch=65537' '--set data.batch=3 --set data.x=2' --approximate; do
    show workload tests/root/two-layers.onnx $option
done
show workload resnet18 --format json
show workload bert-base --set data.sequence_length=64
printed workload

show plan $resnet
show plan $bert
show plan $infer --all
show plan $resnet --update
show plan $resnet --set parallel.micro_batch=64
printed plan

show timeline $bert
show timeline $infer --all
show timeline $resnet --format csv
show timeline $infer --format csv --unfolded
show timeline $infer --trace "$work/trace.json"
show_file "$work/trace.json"
printed timeline

for format in text csv json tap junit markdown annotations; do
    show run $resnet $infer --format $format
done
show run $bert --all
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
printed run

for format in text csv json; do
    show explain $infer --format $format
done
show explain $bert
show explain $resnet
show explain $resnet --set parallel.micro_batch=64
show explain $speech
show explain $resnet --set parallel.micro_batch=24
show explain $infer --set parallel.micro_batch=300
show explain $infer --set parallel.micro_batch=200
show explain $bert --set parallel.micro_batch=3
# The one change that makes it fit is the largest of all.
show explain $resnet --set parallel.micro_batch=24 --set precision.compute=fp32 --set precision.partials=fp32
printed explain

show diff $resnet $bow
show diff $resnet $resnet --set parallel.gradient_accumulation=7 --set a:machine.clock_hz=2e9
show diff $resnet $resnet --set b:parallel.gradient_accumulation=7
show diff $resnet $resnet --set 'b:faults.chip=3 1.5' --set 'a:faults.link=0-2 0.5'
show diff $resnet $resnet --set 'b:faults.chip=3 1.5' --set 'a:faults.chip=3 1.25'
show diff $resnet $resnet --set parallel.gradient_accumulation=7 --set a:machine.clock_hz=2e9 --format json
printed diff
done_testing
