#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The first recipe of a model: podbench init --model writes one that runs and fits, and whose time is not spent on calls.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
cp tests/root/two-layers.onnx "$work/two layers.onnx"
cd "$work" || exit 1

# NAME: the recipe runs and fits, and steps share calls. Images may be bound by what one process converts, however many steps share a call.
answers() {
    "$PODBENCH" run "$1" >out 2>err
    [ $? -eq 0 ] && grep -q '^fits: \(yes\|barely .* as the memory of no program near it is known\)' out && { ! grep -q "bound by: the host, [89]" out || grep -q "^resnet18: " out; } && ! grep -q 'steps_per_call is not set' err
    result $? "the first answer of $1" "$(cat out err)"
}
for model in resnet18 bert-base gpt2-small; do
    "$PODBENCH" workload $model --onnx $model.onnx >out && "$PODBENCH" init --model $model.onnx >out 2>err
    result $? "a recipe for $model" "$(cat err)"
    answers $model.ini
done
grep -q '^micro_batch = [1-9]' bert-base.ini && grep -q '^ipus_per_replica = [248]' bert-base.ini && grep -q '^schedule = ' bert-base.ini
result $? "a model too large for an IPU is split" "$(cat bert-base.ini)"
grep -q '^available_memory = 0' gpt2-small.ini && grep -q '^optimizer_state = streaming$' gpt2-small.ini
result $? "a vocabulary that needs less memory for temporaries" "$(cat gpt2-small.ini)"

# The batch is doubled while that gains 2 %: twice as much still fits, and gains less.
batch=$(sed -n 's/^micro_batch = //p' resnet18.ini)
for size in "$batch" $((2 * batch)); do "$PODBENCH" run resnet18.ini --set parallel.micro_batch="$size" --format csv 2>err; done >out
awk -F, '/^id,/ { for (i = 1; i <= NF; i++) c[$i] = i; next } { rate[++n] = $c["throughput_samples_per_s"]; fits = $c["fits"] }
    END { exit !(fits == "yes" && rate[2] > rate[1] && rate[2] < 1.02 * rate[1]) }' out
result $? "a batch of $batch, as twice as much gains little" "$(cat out err)"

# What saves memory is tried: without recomputation only a sequence of stages fits, of which three wait for the fourth.
bubble=$("$PODBENCH" run bert-base.ini | sed -n 's/.*bubble \([0-9]*\) %.*/\1/p')
[ "${bubble:-0}" -lt 25 ] && grep -q '^schedule = popart$' bert-base.ini
result $? "its stages work at the same time: a bubble of $bubble %" "$(cat bert-base.ini)"
"$PODBENCH" init --model "two layers.onnx" --set recipe.mode=infer >out 2>err && grep -q '^mode = infer$' two-layers.ini && grep -q '^workload = two layers.onnx$' two-layers.ini
result $? "a blank in a model's name" "$(cat out err; cat two-layers.ini)"
"$PODBENCH" init --model resnet18.onnx >out 2>err
[ $? -eq 2 ] && grep -q '^podbench: ./resnet18.ini: is already there; init overwrites nothing$' err
result $? "init overwrites nothing" "$(cat err)"
"$PODBENCH" init there --model resnet18.onnx --set parallel.micro_batch=4 >out 2>err && grep -q "^workload = $work/resnet18.onnx$" there/resnet18.ini &&
    grep -q '^micro_batch = 4$' there/resnet18.ini
result $? "a new folder, and a key that stays" "$(cat out err there/resnet18.ini)"

# A system that is given is filled, and every key that is given is in the recipe once, whatever its section.
"$PODBENCH" init c600 --model resnet18.onnx --set recipe.system=c600 >out 2>err && grep -q '^replicas = 1$' c600/resnet18.ini && answers c600/resnet18.ini
result $? "a card of one IPU" "$(cat out err)"
"$PODBENCH" init pod --model resnet18.onnx --set recipe.system=bow-pod16 --set recipe.mode=train --set precision.compute=fp32 --set optimizer.name=lamb \
    --set cost.price_per_hour=3 --set recipe.id=mine --set hosts.count=2 --set hosts.count=1 >out 2>err
"$PODBENCH" run pod/resnet18.ini >out 2>>err && grep -q '^mine: .* on 16 IPUs of bow-pod16, training$' out &&
    [ "$(grep -cE '^(compute = fp32|name = lamb|price_per_hour = 3|count = 1|id = mine)$' pod/resnet18.ini)" -eq 5 ] &&
    grep -q ': training, as asked for.$' pod/resnet18.ini
result $? "a pod, and keys of every section" "$(cat out err pod/resnet18.ini)"
"$PODBENCH" init two --model resnet18.onnx --set parallel.ipus_per_replica=2 >out 2>err && grep -q '^replicas = 2$' two/resnet18.ini && answers two/resnet18.ini
result $? "a split that is given" "$(cat out err)"
"$PODBENCH" init x --model resnet18.onnx --set recipe.system=c600 --set parallel.replicas=2 >out 2>err
[ $? -eq 2 ] && grep -q '^podbench: [^:]*/resnet18.onnx: parallel: 2 replicas of 1 IPUs want 2 IPUs, c600 has 1;' err && ! grep -q podbench-first err
result $? "a message names the model, not a trial's file" "$(cat err)"
"$PODBENCH" init x --model resnet18.onnx --set machine.clock_hz=1e9 >out 2>err
[ $? -eq 2 ] && grep -q 'is a value of a sheet, which a recipe cannot hold' err
result $? "a value of a sheet" "$(cat err)"
for wrong in "init" "init --set data.x=1" "init --model resnet18.onnx x --set nonsense" "init --model x.txt" "init --model nowhere.onnx"; do
    # shellcheck disable=SC2086
    "$PODBENCH" $wrong >out 2>err
    [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ]
    result $? "refused: $wrong" "$(cat err)"
done
done_testing
