#!/bin/sh
# The options of a configuration are Python that parses, for every framework that has names; nothing is printed from memory.
. tests/tap.sh

first_of() { grep -l "^framework *= *$1" workloads/recipes/*.ini | sed "s|.*/||; s|\.ini\$||" | sed -n "${2:-1}p"; }
options() { "$PODBENCH" run "$1" --framework-options 2>/dev/null | awk '/^options of/ { inside = 1; next } !/^  / { inside = 0 } inside { print substr($0, 3) }'; }

for framework in PopART PyTorch "TensorFlow 1" "TensorFlow 1.15" "TensorFlow 2.6.3" PaddlePaddle PopRT; do
    for i in 1 5; do
        recipe=$(first_of "$framework" $i)
        [ -n "$recipe" ] || continue
        options "$recipe" >"$work/options.py"
        if command -v python3 >/dev/null; then
            python3 -c 'import ast, sys; tree = ast.parse(open(sys.argv[1]).read()); sys.exit(not any(isinstance(x, ast.Import | ast.ImportFrom) for x in tree.body))' \
                "$work/options.py" 2>"$work/err"
            result $? "Python for $framework parses: $recipe" "$(cat "$work/err" "$work/options.py")"
        else
            result 0 "Python for $framework parses: $recipe # SKIP no python3"
        fi
    done
done
# Pipelines are configured in a place of their own, and an IPU that is alone in none.
options mlperf-v2.0-closed-bow-pod16-resnet50 >"$work/alone"
grep -q 'accumulation\["num_mini_batches"\] = ' "$work/alone" && ! grep -q 'pipeline\["' "$work/alone"
result $? "one IPU a replica accumulates without a pipeline" "$(cat "$work/alone")"
recipe=$(grep -l "^framework *= *TensorFlow" $(grep -l "^ipus_per_replica *= *[248]" workloads/recipes/*.ini) | head -1)
options "$(basename "$recipe" .ini)" >"$work/pipelined"
grep -q 'pipeline\["gradient_accumulation_count"\] = ' "$work/pipelined" && ! grep -q 'accumulation\["' "$work/pipelined"
result $? "several IPUs a replica are a pipeline" "$recipe: $(cat "$work/pipelined")"
done_testing
