#!/bin/sh
# What podbench fit prints, in every format, word for word.
. tests/tap.sh
. tests/printed.sh
bert=mlperf-v2.0-closed-bow-pod16-bert-large resnet=mlperf-v2.0-closed-bow-pod16-resnet50

show fit $bert
show fit $bert --size 6
show fit $resnet --size 48
show fit $resnet --size 23
show fit $resnet --set parallel.micro_batch=64
show fit vendor-ipu-pod16-resnet50-pipelined --size 60
show fit vendor-c600-bert-base-sl128-b16-poprt --size 300
show fit vendor-dss8440-resnet50-tf1 --format csv
show fit vendor-dss8440-resnet50-tf1 --size 8 --format json
show fit $resnet --size 65537
show fit $resnet --size 0
show fit $resnet --size many
show fit nowhere
printed fit

# The largest that fits and the next one, as run sees them.
run fit $resnet --format json
largest=$(sed -n 's/^  "micro_batch": \([0-9]*\),$/\1/p' "$work/out")
run run $resnet --set parallel.micro_batch="$largest"
gives 0 "fits: " "the largest micro-batch fits"
run run $resnet --set parallel.micro_batch=$((largest + 1))
gives 1 "fits: NO" "the next does not"
done_testing
