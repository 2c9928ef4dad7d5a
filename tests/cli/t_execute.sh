#!/bin/sh
# podbench execute: a step in numbers, the same at any number of threads, and what cannot be executed is refused.
. tests/tap.sh
recipe=vendor-ipu-pod16-resnet50-pipelined
few="--set parallel.replicas=1 --set parallel.gradient_accumulation=1 --set parallel.micro_batch=1 --set framework.accumulation_multiple=0"
few="$few --set parallel.schedule=sequential --set data.image_size=32"

run execute $recipe $few --jobs 1
gives 0 "; 0 elements of gradients are not finite" "a small step gives a loss"
grep -q "^host memory wanted: " "$work/out"
result $? "after the host memory that it wants"
[ "$(awk '$2 == "weights" && $3 == $4' "$work/out" | wc -l)" -eq 4 ]
result $? "the weights of each of four stages are what the plan counts" "$(cat "$work/out")"
cp "$work/out" "$work/alone"
run execute $recipe $few --jobs 3
cmp -s "$work/out" "$work/alone"
result $? "three threads: the same bytes" "$(diff "$work/out" "$work/alone")"
run execute $recipe $few --format json --set precision.loss_scale=1e9 --set precision.stochastic_rounding=yes
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); my %r = map { $_->{tensors} => $_ } @{$o->{rounding}};
    exit !($o->{step}{skipped} && $o->{step}{not_finite} > 0 && $r{gradients}{infinite} > 0 && @{$o->{live_bytes}} > 16)' <"$work/out"
result $? "a loss scale that is too large overflows, which is counted, and no weight is changed" "$(head -30 "$work/out")"
! grep -q 'no effect here:.*precision' "$work/err"
result $? "its keys have an effect here" "$(cat "$work/err")"
run execute vendor-ipu-m2000-gpt2-tiny-sl256-pytorch --set recipe.framework=PopART --set data.sequence_length=16 --set parallel.weights=streaming --set parallel.tensor_parallel=2 \
    --set parallel.ipus_per_replica=2 --set parallel.replicas=1 --set parallel.layers_per_ipu= --set parallel.gradient_accumulation=1 --set parallel.micro_batch=1 --set parallel.attention_serialisation=2
gives 0 "; 0 elements of gradients are not finite" "a model cut over two IPUs, its attention in two pieces"
run execute $recipe --set parallel.gradient_accumulation=1000000 --set parallel.micro_batch=800
gives 2 "90 % of it; lower parallel.replicas" "too little host memory is said first"
run execute vendor-c600-resnet50-b32-fp8-poprt --set parallel.gradient_accumulation=1 --set parallel.micro_batch=1 --set data.image_size=32 --format json
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); my %e = map { $_->{format} => $_->{error} } @{$o->{output}};
    exit !($e{"fp8 as E4M3"} > 1e-3 && 1.4 * $e{"fp8 as E4M3"} < $e{"fp8 as E5M2"} && $e{"fp8 as E5M2"} < 0.2 && !defined $o->{step}{loss})' <"$work/out"
result $? "inference in fp8: near fp32, and nearer with three bits of mantissa than with two" "$(cat "$work/out" "$work/err")"
cp "$work/out" "$work/fp8"
run execute vendor-c600-resnet50-b32-fp8-poprt --set parallel.gradient_accumulation=1 --set parallel.micro_batch=1 --set data.image_size=32 --format json \
    --set precision.compute=fp16
perl -MJSON::PP -e 'local $/; my ($fp16, $fp8) = map { open(my $f, "<", $_); decode_json(<$f>)->{output}[0] } @ARGV;
    exit !($fp16->{format} eq "fp16" && $fp16->{error} > 0 && 3 * $fp16->{error} < $fp8->{error})' "$work/out" "$work/fp8"
result $? "and fp16 nearer still" "$(cat "$work/out")"
done_testing
