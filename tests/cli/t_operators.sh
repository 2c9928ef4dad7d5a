#!/bin/sh
# Operations of one's own from sheet to answer: podbench kernel, rounds, grids that IPUs share, graphs as samples, and what is refused.
. tests/tap.sh
heat=operator-gc200-heat2d-8000-r1 graphs=workloads/recipes/graphs sheet=workloads/recipes/operators/stencils.csv
small="--set data.height=800 --set data.width=900 --set parallel.grid_tiles="
cell() { # COLUMN - of the first row of csv
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i } NR == 2 { print $k }' "$work/out"
}

run kernel $graphs/gather-rows.onnx --set data.batch=0 --set data.rows=3 --set data.width=2 --set data.lookups=4 --set precision.compute=fp32 --set sparsity.block=4 --format csv
[ "$(cell kind)" = gather ] && [ "$(cell cycles)" -eq $(($(cell compute_cycles) + $(cell exchange_cycles) + $(cell sync_cycles))) ]
result $? "a lookup alone: computing, exchange and sync are its cycles" "$(cat "$work/out" "$work/err")"
gives 0 'gather-rows.onnx: no effect here: sparsity.block' "a key without effect is named with the file"

run kernel $heat $small --set recipe.repeat=1
gives 0 "cycles, " "a codelet alone"
gives 0 ", by the errors of published operations of its kind on this chip" "how sure it is"
run kernel $heat $small --set recipe.repeat=1 --set recipe.system=bow-2000
gives 0 "trust: A GUESS, as too few operations of this kind were published of this chip: 90 % interval" "and that it is a guess on a chip of which none was published"
run kernel $heat $small --set recipe.repeat=1 --set recipe.system=bow-2000 --format json
grep -q '"guess": true' "$work/out" && grep -q '"high_cycles": [0-9]' "$work/out"
result $? "also as JSON" "$(cat "$work/out" "$work/err")"
run kernel $heat $small --set recipe.repeat=1 --set recipe.system=bow-2000 --format csv
gives 0 ",yes" "and as CSV"
run kernel $heat $small --set recipe.repeat=1
one=$(sed -n 's/.*: \([0-9]*\) cycles, .*/\1/p' "$work/out")
run kernel $heat $small --set recipe.repeat=7
[ "$(sed -n 's/.*: \([0-9]*\) cycles, .*/\1/p' "$work/out")" -eq $((7 * one)) ]
result $? "seven rounds take seven times as long" "$one; $(cat "$work/out")"
! grep -q "between IPUs" "$work/out"
result $? "one IPU has no neighbours" "$(cat "$work/out")"

run kernel $heat $small --set recipe.repeat=7 --set parallel.replicas=4 --set parallel.grid_ipus=2x2
gives 0 "halos between IPUs: " "four IPUs exchange halos"
awk -v one="$one" '/cycles, / { sub(/.*: /, ""); all = $1 } /halos/ { links = $4 } END { exit !(links > 0 && (all - links) < 7 * one / 2) }' "$work/out"
result $? "besides that they take less than half of the time" "$one; $(cat "$work/out")"
run run $heat $small --set parallel.replicas=4 --set parallel.grid_ipus=1x4 --format csv
[ "$(cell global_batch)" = 1 ] && [ "$(cell ipus)" = 4 ]
result $? "a sample is the whole grid" "$(cat "$work/out")"

run run $heat $small --set data.graphs_per_pack=40 --format csv
[ "$(cell global_batch)" = 40 ]
result $? "graphs count as samples" "$(cat "$work/out")"
run explain $heat $small
gives 0 "most: codelet of stem" "explain names the codelet"

vertex_code() { # SHEET - bytes of vertex code on the fullest tile with it
    "$PODBENCH" explain $heat $small --set recipe.operators="$1" --format json | sed -n 's/.*"vertex code": \([0-9]*\).*/\1/p' | head -n 1
}
cp $sheet "$work/sheet.csv"
echo 'stencils,Heat2D,code_bytes,5003,B,counted' >>"$work/sheet.csv"
[ $(($(vertex_code "$work/sheet.csv") - $(vertex_code "$PWD/$sheet"))) -eq 4803 ]
result $? "the code of a vertex of one's own is vertex code, instead of 200 bytes of a small one" "$(vertex_code "$work/sheet.csv")"

run workload $graphs/heat-2d.onnx --set data.batch=0 --set data.height=80 --set data.width=90
gives 2 "describe it in the FILE of --operators, by the lines below" "a node of one's own without a sheet"
sed -n '2,$p' "$work/err" | sed 's/NUMBER/7/' >"$work/pasted.csv"
run workload $graphs/heat-2d.onnx --operators "$work/pasted.csv" --set data.batch=0 --set data.height=80 --set data.width=90 --set recipe.mode=infer
gives 0 "1 x Heat2D                   codelet" "its lines, pasted and filled in, are a sheet"
run workload $graphs/heat-2d.onnx --operators $sheet --set data.batch=0 --set data.height=80 --set data.width=90 --set recipe.mode=infer
gives 0 "1 x Heat2D                   codelet" "and with it"
run workload $graphs/gather-rows.onnx --set data.batch=0 --set data.rows=3 --set data.width=2 --set data.lookups=4
gives 0 "inference alone, as training is refused: $graphs/gather-rows.onnx: no operation that computes anything, or no weight that is trained" "a lookup alone is read for inference, and says why"
gives 0 "1 x Gather                   gather" "as an operation"
run workload $graphs/gather-rows.onnx --set data.batch=0 --set data.rows=3 --set data.width=2 --set data.lookups=4 --format json
gives 0 '"training_refused": "' "also as JSON"
run execute $heat $small --set recipe.repeat=1
gives 2 "is described by a sheet, which says what it costs and not what it computes" "a codelet cannot be executed"
run execute $heat $small --set recipe.repeat=9
gives 2 "stands for 9 rounds and describes only one" "nor rounds"
run init "$work" --model $graphs/heat-2d.onnx --operators "$PWD/$sheet" --set data.batch=0 --set data.height=80 --set data.width=90 --set recipe.mode=infer
grep -q "^operators = .*stencils.csv" "$work"/heat-2d.ini
result $? "init writes a recipe with the sheet" "$(cat "$work/out" "$work/err" "$work"/*.ini)"
refuses "grid_ipus: '4y': want a number of parts for each axis, such as 1x4" "a grid of IPUs is numbers" run $heat --set parallel.grid_ipus=4y
refuses "want replicas of one IPU, in a multiple of that number, not 3 replicas of 1" "IPUs of a grid are replicas" run $heat --set parallel.replicas=3 --set parallel.grid_ipus=1x2
refuses "repeat: a training step has one round, not 1000; want mode = infer" "training has one round" run $heat --set recipe.mode=train --set optimizer.name=sgd
run run operator-bow-gather-1024x64-2048 --operators $sheet
gives 0 "no effect here: recipe.operators" "a sheet that no node needs is told"
run kernel $graphs/pubmed-gcn.onnx --format csv
grep -q "the first dimension, 1996, is taken for samples, of which 1 is priced; --set data.batch=0 keeps the file's sizes" "$work/err"
result $? "a file of fixed sizes is priced for the samples of the settings, and kernel says so" "$(cat "$work/err")"
run kernel $graphs/pubmed-gcn.onnx --set parallel.micro_batch=1996
! grep -q "taken for samples" "$work/err"
result $? "nothing is said where the samples are the file's" "$(cat "$work/err")"
done_testing
