#!/bin/sh
# batch_sizes.sh FIRST_SEED LAST_SEED [PODBENCH] - samples to 60 % of Fashion-MNIST by resnet8 against the batch, as CSV: batch,seed,reached,samples.
# The rate grows with the batch up to 128 samples (Goyal et al. 2017, arXiv 1706.02677) and with its root beyond, and warms up over 2048 samples.
# A batch is micro-batches of up to 64 on one IPU: group norm makes the division of no matter.
set -eu
podbench=${3:-build/podbench}
for seed in $(seq "$1" "$2"); do
    for batch in 8 16 32 64 128 256 512 1024; do
        micro=$((batch < 64 ? batch : 64))
        rate=$(awk -v b=$batch 'BEGIN { print 0.2 * (b < 128 ? b / 128 : sqrt(b / 128)) }')
        every=$((batch > 512 ? batch : 512))
        "$podbench" train workloads/recipes/trained/fashion.ini --jobs 1 --seed "$seed" --set parallel.replicas=1 --set parallel.micro_batch=$micro \
            --set parallel.gradient_accumulation=$((batch / micro)) --set optimizer.opt_base_learning_rate="$rate" --set optimizer.opt_learning_rate_decay_steps=0 \
            --set optimizer.opt_learning_rate_warmup_steps=$((2048 / batch)) --set training.target=0.6 --set training.eval_every=$every --set training.eval_samples=500 \
            --format json 2>/dev/null | awk -v b=$batch -v s="$seed" '/"runs"/ { runs = 1 } runs && /"reached"/ { r = $2 } runs && /"samples"/ { print b "," s "," r $2; exit }' | tr -d ' ' | sed 's/,$//'
    done
done
