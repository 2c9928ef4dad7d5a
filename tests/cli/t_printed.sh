#!/bin/sh
# What the commands that look at one recipe print, in every format, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v1.1-closed-ipu-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large infer=vendor-ipu-m2000-bert-base-infer-b16

show list recipes
show list recipes --format json
show list machines --format json
show list frameworks
show list keys
show_forms list keys --format json
printed list
show list assumptions
show_forms list assumptions --format json
printed assumptions

for format in text csv json; do
    show machine dss8440 --format $format
done
show machine bow-pod256
show machine c600
show machine bow-pod64 --topology
show machine ipu-pod16 --topology --format dot
show_digest machine ipu-pod16 --format json
show machine
show_digest machine c600 --format json
show machine nowhere
printed machine

for format in text csv json; do
    show framework PyTorch --format $format
done
show framework
show framework default
show framework tensorflow-1-2.1.0
show framework popart-1.0
show framework Keras
printed framework

show workload resnet50
show workload resnet18 --ops
show workload nowhere
for option in --ops '--format json' '--set recipe.output=h' '--set recipe.output=nowhere' '--set recipe.mode=infer' '--set parallel.micro_batch=5' \
    '--set parallel.micro_batch=0' '--set parallel.micro_batch=65537' '--set data.batch=3 --set data.x=2' --approximate; do
    show workload tests/root/two-layers.onnx $option
done
show workload resnet18 --format json
show workload bert-base --set data.sequence_length=64
show workload --onnx x.onnx
show workload rnnt --onnx x.onnx
show workload resnet18 --onnx x
show workload resnet18 --weights 1
show workload resnet18 --onnx x.onnx --weights one
show workload tests/root/two-layers.onnx --onnx x.onnx
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
done_testing
