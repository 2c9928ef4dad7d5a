#!/bin/sh
# The options of a configuration are Python that parses, for every framework that has names; nothing is printed from memory.
. tests/tap.sh

first_of() { grep -l "^framework *= *$1" workloads/recipes/*.ini | sed "s|.*/||; s|\.ini\$||" | sed -n "${2:-1}p"; }
options() { "$PODBENCH" run "$1" --framework-options 2>/dev/null | awk '/^options of/ { inside = 1; next } !/^  / { inside = 0 } inside { print substr($0, 3) }'; }

n_files=0
for framework in PopART PyTorch "TensorFlow 1" "TensorFlow 1.15" "TensorFlow 2.6.3" PaddlePaddle PopRT; do
    for i in 1 5; do
        recipe=$(first_of "$framework" $i)
        [ -n "$recipe" ] || continue
        n_files=$((n_files + 1))
        options "$recipe" >"$work/$n_files $framework $recipe.py"
    done
done
for recipe in vendor-ipu-pod16-gpt-j-popxl vendor-ipu-pod256-gpt3-175b-popxl; do
    n_files=$((n_files + 1))
    options $recipe >"$work/$n_files PopXL $recipe.py"
done
if command -v python3 >/dev/null; then
    python3 - "$work"/*.py >"$work/out" 2>"$work/err" <<'END'
import ast, sys
for path in sys.argv[1:]:
    tree = ast.parse(open(path).read(), path)
    if not any(isinstance(x, ast.Import | ast.ImportFrom) for x in tree.body):
        sys.exit(path + ": imports nothing")
print(len(sys.argv) - 1)
END
    [ $? -eq 0 ] && [ "$(cat "$work/out")" = "$n_files" ] && [ "$n_files" -ge 12 ]
    result $? "Python for every framework parses, in $n_files files" "$(cat "$work/err")"
else
    result 0 "Python for every framework parses # SKIP no python3"
fi
# Pipelines are configured in a place of their own, and an IPU that is alone in none.
options mlperf-v2.0-closed-bow-pod16-resnet50 >"$work/alone"
grep -q 'accumulation\["num_mini_batches"\] = ' "$work/alone" && ! grep -q 'pipeline\["' "$work/alone"
result $? "one IPU a replica accumulates without a pipeline" "$(cat "$work/alone")"
recipe=$(grep -l "^framework *= *TensorFlow" $(grep -l "^ipus_per_replica *= *[248]" workloads/recipes/*.ini) | head -1)
options "$(basename "$recipe" .ini)" >"$work/pipelined"
grep -q 'pipeline\["gradient_accumulation_count"\] = ' "$work/pipelined" && ! grep -q 'accumulation\["' "$work/pipelined"
result $? "several IPUs a replica are a pipeline" "$recipe: $(cat "$work/pipelined")"
# Layers that are cut over IPUs and run in phases are no pipeline of PopART; what the program's own file sets is printed as it stands there
# (graphcore/examples 3cc8f81f nlp/gpt_j/popxl/config/finetuning.yml, nlp/gpt3_175B/popxl/config/pretraining.yml).
for recipe in vendor-ipu-pod16-gpt-j-popxl vendor-ipu-pod256-gpt3-175b-popxl; do
    if [ $recipe = vendor-ipu-pod16-gpt-j-popxl ]; then set -- 'data_parallel: 1' 'tensor_parallel: 16' 'attention_serialisation: 2' 'available_memory_proportion: [ 0.2 ]' 'global_batch_size: 128'
    else set -- 'data_parallel: 4' 'tensor_parallel_1: 8, tensor_parallel_2: 8' 'attention_serialisation: 8' 'available_memory_proportion: [ 0.1 ]'; fi
    options $recipe >"$work/phased"
    good=true
    for line in "$@" 'micro_batch_size: 1' 'io_tiles: 128'; do grep -qxF "#   $line" "$work/phased" || good=false; done
    $good && ! grep -q 'pipelineStage\|import popart$' "$work/phased"
    result $? "$recipe is written as its released configuration" "$(cat "$work/phased")"
done
done_testing
