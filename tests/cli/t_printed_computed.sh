#!/bin/sh
# What execute and train print as JSON of a small network on made-up images. Numbers that the processor's instructions may change are written as 0.5.
. tests/tap.sh
. tests/printed.sh

# PART N - images of 16 x 16 whose pixels are their class, of two, and their labels, as IDX.
images() {
    perl -e 'my ($part, $n) = @ARGV; open(X, ">", "$part-images-idx3-ubyte"); open(Y, ">", "$part-labels-idx1-ubyte");
        print X pack("N4", 0x803, $n, 16, 16); print Y pack("N2", 0x801, $n);
        print(X chr($_ % 2 * 200) x 256), print Y chr($_ % 2) for 1 .. $n;' "$work/$1" "$2"
}
images train 16
images t10k 2
cat >"$work/tiny.ini" <<END
[recipe]
id = tiny
workload = resnet8
system = bow-pod16
source = a test
[data]
path = $work
image_size = 16
norm_groups = 4
[parallel]
replicas = 2
ipus_per_replica = 1
micro_batch = 1
gradient_accumulation = 2
[precision]
compute = fp16
[optimizer]
name = sgd
opt_base_learning_rate = 0.1
[training]
eval_every = 8
eval_samples = 2
samples_to_converge = 16
END
show train "$work/tiny.ini" --until 8 --format json
show train "$work/tiny.ini" --until 4 --seeds 2 --format json
show execute "$work/tiny.ini" --format json
show execute "$work/tiny.ini" --set recipe.mode=infer --format json
sed -i 's/"\(loss\|quality\|error\|same_best\|vanished\)": [0-9][-+0-9.e]*/"\1": 0.5/' "$work/shown"
printed computed
done_testing
