#!/bin/sh
# What explain and diff print, in every format, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v1.1-closed-ipu-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large bow=mlperf-v2.0-closed-bow-pod16-resnet50
infer=vendor-ipu-m2000-bert-base-infer-b16 speech=mlperf-v2.0-open-bow-pod64-transformer-transducer

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
show_digest explain $infer --set hosts.sample_s=1e-3 --set hosts.workers=8 --set machine.clock_hz=1.4e9 --format json
show explain $resnet --set hosts.sample_s=3e-3 --set hosts.cores=64
# The one change that makes it fit is the largest of all.
show explain $resnet --set parallel.micro_batch=24 --set precision.compute=fp32 --set precision.partials=fp32
printed explain

for format in text csv json; do
    show kernel tests/root/two-layers.onnx --format $format
done
printed kernel

show diff $resnet $bow
show diff $resnet $resnet --set parallel.gradient_accumulation=7 --set a:machine.clock_hz=2e9
show diff $resnet $resnet --set b:parallel.gradient_accumulation=7
show diff $resnet $resnet --set c:parallel.gradient_accumulation=7
show diff $resnet $resnet --set bparallel.gradient_accumulation=7
show diff $resnet $resnet --set 'b:faults.chip=3 1.5' --set 'a:faults.link=0-2 0.5'
show diff $resnet $resnet --set 'b:faults.chip=3 1.5' --set 'a:faults.chip=3 1.25'
show diff $resnet $resnet --set parallel.gradient_accumulation=7 --set a:machine.clock_hz=2e9 --format json
printed diff
done_testing
