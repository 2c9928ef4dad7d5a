#!/bin/sh
# The promises of the command line: commands, help, exit status, formats, what goes to which stream.
. tests/tap.sh
recipe=mlperf-v1.1-closed-ipu-pod16-resnet50

run
gives 2 'Usage: podbench COMMAND' "no command: usage, status 2"
run --help
gives 0 'Usage: podbench COMMAND' "--help: usage, status 0"
run --version
gives 0 'podbench ' "--version"
refuses "known: list, machine" "an unknown command lists the known ones" rnu
commands=$("$PODBENCH" --commands)
for c in $commands; do
    run "$c" --help
    gives 0 "Usage: podbench $c" "$c --help"
done
for kind in "recipes --names" machines workloads; do
    # shellcheck disable=SC2086
    run list $kind
    [ "$status" -eq 0 ] && [ "$(grep -c ' ' "$work/out")" -eq 0 ] && [ "$(wc -l <"$work/out")" -gt 4 ]
    result $? "list $kind: names, one per line"
    # shellcheck disable=SC2086
    "$PODBENCH" list $kind | sort -cu 2>/dev/null || [ "$kind" = workloads ]
    result $? "list $kind: each once, in order"
done
gpt2="run vendor-bow-pod16-gpt2-small-pytorch --set parallel.layers_per_ipu=auto --set parallel.ipus_per_replica=8 --set parallel.replicas=2"
run $gpt2 --set recipe.workload=gpt2-medium
gives 0 "fits: yes (9" "GPT-2 medium on the small one's recipe, twice the IPUs a replica"
run $gpt2 --set recipe.workload=gpt2-large --set parallel.micro_batch=2
[ "$status" -eq 1 ] && grep -q "^does not fit; what was tried" "$work/out"
result $? "GPT-2 large: what was tried, and exit 1" "$(head -3 "$work/out")"
run list keys --format json
perl -MJSON::PP -e 'local $/; my %k = map { ("$_->{section}.$_->{key}" => $_) } @{decode_json(<STDIN>)};
    exit !($k{"parallel.replicas"}{required} && $k{"parallel.replicas"}{maximum} == 65536 && grep { $_ eq "popart" } @{$k{"parallel.schedule"}{choices}})' <"$work/out"
result $? "list keys --format json"
run list keys
gives 0 "required  copies of the model (1..65536)" "list keys: a recipe's keys"
refuses "known: recipes, machines, workloads, frameworks, keys, operators, metrics, schema, assumptions" "list of something else" list bananas
refuses "list schema: is JSON, and has no other format" "the schema as csv" list schema --format csv
for kind in machines workloads frameworks keys operators metrics assumptions; do
    run list $kind --format csv --root tests/root
    [ "$status" -eq 0 ] && [ "$(wc -l <"$work/out")" -gt 4 ] && head -1 "$work/out" | grep -Eq '^(name|section|key)(,|$)'
    result $? "list $kind as csv: a heading, and rows"
done
gives 0 'EMPTY_VERTEX_CODE_BYTES,140,B,' "assumptions as csv: those in the code too"
refuses "--format dot wants a NAME" "links of no machine" machine --format dot
refuses "-: want the name of a folder" "logs to standard output" run "$recipe" --mllog -
for names in "machine" "framework" "list recipes --names bow"; do
    run $names --format csv
    [ "$status" -eq 0 ] && [ "$(head -1 "$work/out")" = name ] && [ "$(wc -l <"$work/out")" -gt 5 ]
    result $? "names as csv have a heading: $names" "$(head -2 "$work/out" "$work/err")"
done
refuses "'--root': an option comes after its command" "an option before its command" --root . list recipes
refuses "-: want the name of a file" "a trace to standard output" timeline "$recipe" --trace -
refuses "--format: unknown format 'yaml'" "an unknown format" run "$recipe" --format yaml
refuses "known: " "an unknown machine lists the known ones" machine ipu-pod15
refuses "bert-large" "an unknown workload lists the known ones" workload resnet51
refuses "mlperf-v1.0-" "an unknown recipe lists the known ones" run mlperf-v9
refuses "parallel" "a --set without its parts" run "$recipe" --set parallel
refuses "replicas" "a --set of a bad value" run "$recipe" --set parallel.replicas=many
refuses "bananas" "a --set of an unknown key" run "$recipe" --set parallel.bananas=1

for machine in $("$PODBENCH" list machines); do
    run machine "$machine"
    [ "$status" -eq 0 ] && [ -s "$work/out" ] && [ ! -s "$work/err" ]
    result $? "machine $machine prints" "$(head -3 "$work/err")"
done
run machine ipu-pod16 --topology --format dot
gives 0 'graph' "machine --topology --format dot"
for workload in $("$PODBENCH" list workloads); do
    run workload "$workload"
    [ "$status" -eq 0 ] && [ -s "$work/out" ] && [ ! -s "$work/err" ]
    result $? "workload $workload prints" "$(head -3 "$work/err")"
done
# One process answers for all; t_warm_cold compares such a one with fresh ones.
# shellcheck disable=SC2046
run run $("$PODBENCH" list recipes --names) --check --format json
[ "$status" -eq "$(grep -q '^    "fits": false' "$work/out"; echo $((! $?)))" ] && [ "$(grep -c '^    "fits": ' "$work/out")" -eq "$("$PODBENCH" list recipes --names | wc -l)" ]
result $? "every recipe runs, and keeps the laws of the timeline" "$status: $(head -3 "$work/err")"
! grep -v ': recipe\.sdk: .* has no sheet' "$work/err" >"$work/told"
result $? "and has no key without effect" "$(head -3 "$work/told")"
run run vendor-bow-pod16-bert-large-ph1-popart --set parallel.schedule=
gives 0 'podbench: vendor-bow-pod16-bert-large-ph1-popart: parallel.schedule is not set, so only one stage works at a time; pipelines of popart-2.1.0: popart' \
    "stages without a schedule are told"
run run vendor-bow-pod16-bert-large-ph1-popart --set parallel.schedule=none
[ "$status" -eq 0 ] && ! grep -q schedule "$work/err"
result $? "not where none is meant" "$(cat "$work/err")"
run run vendor-ipu-pod4-resnet50-tf1 --set hosts.instances=6
gives 0 'podbench: vendor-ipu-pod4-resnet50-tf1: hosts.instances: 6 processes for 4 replicas; only 4 are counted' "processes without a replica are told"
run run "$recipe" --set parallel.embedding_serial_steps=4
gives 0 'no effect here: parallel.embedding_serial_steps' "a key without effect is named"
for set in data.dataset=x precision.stochastic_rounding=yes precision.loss_scale=3 training.target=0.7 hosts.count=3 hosts.instances=7; do
    run run vendor-c600-resnet50-b1-poprt --set "$set" --format csv
    grep -q "no effect here: ${set%=*}\$" "$work/err" || result 1 "no effect: $set" "$(cat "$work/err")"
done
for set in 'lstm' 'gelu' 'gelu,lstm,relu (relu, lstm)'; do
    type=fp16
    [ "$set" = gelu ] && type=fp32
    run run vendor-ipu-m2000-bert-base-infer-b1 --set "precision.fp32_operations=${set%% *}" --set "precision.compute=$type"
    case "$set" in *\ *) set=" ${set#* }" ;; *) set= ;; esac
    gives 0 "no effect here: precision.fp32_operations$set" "kinds of operations that a model lacks, or that are in fp32 anyway, have no effect"
done
run run vendor-ipu-m2000-bert-base-infer-b1 --set precision.fp32_operations=matmul --set precision.compute=fp8 --set recipe.system=c600
gives 2 'fp32_operations: conv and matmul have factors in fp8 here' "products of 8-bit factors are not kept in fp32"
run run vendor-ipu-pod16-bert-base-ph1-popart --set training.eval_every=9 --set training.evaluations=3
gives 0 'no effect here: training.eval_every, training.evaluations' "keys that no result rests on are named where they are set, and evaluations of a training without an end"
# Without an end nothing is evaluated or begins from a checkpoint on the clock; with one a training is evaluated at its end at least.
run run vendor-ipu-pod16-bert-base-ph1-popart --set training.eval_every=9 --set training.eval_samples=5 --set training.eval_placement=end \
    --set training.eval_program=training --set training.initial_checkpoint=yes
gives 0 'no effect here: training.eval_every, training.eval_samples, training.eval_placement, training.eval_program, training.initial_checkpoint' \
    "nor does it matter how a training without an end begins and is evaluated"
run run vendor-bow-pod16-efficientnet-b4-g16-tf1 --set training.epochs=1 --set training.eval_samples=1
[ "$status" -eq 0 ] && ! grep -q 'no effect' "$work/err"
result $? "the samples of the evaluation at the end of an epoch do matter" "$(cat "$work/err")"
run run vendor-bow-pod16-resnet50-tf1 --set hosts.decode_bytes_per_s=1e9 --set hosts.count=2
! grep -q 'no effect' "$work/err"
result $? "and hosts that prepare the input of replicas are not" "$(cat "$work/err")"
# 51 MB of gradients are one buffer's, whether it holds 60 or 100; who evaluates nothing may do it in any way; a chip that is no slower is no
# fault. What is the file's own, or the choice that nobody made, is no change, and of two settings of a key the last one holds.
for set in 'framework.merge_buffer_bytes=1e8' recipe.source=x training.eval_program=training 'faults.chip=1 1' 'faults.flow=0-1 0' precision.loss_scale=3; do
    run run vendor-bow-pod16-resnet50-tf1 --set framework.merge_buffer_bytes=6e6 --set "$set" --set parallel.rts=no --set parallel.micro_batch=20 --set precision.stable_norm=no
    gives 0 "podbench: vendor-bow-pod16-resnet50-tf1: no effect here: ${set%%=*}" "what a simulation without it shows to be idle is told: $set"
    [ "$(grep -c 'no effect' "$work/err")" -eq 1 ] && ! grep 'no effect' "$work/err" | grep -q ,
    result $? "and nothing else: $set" "$(cat "$work/err")"
done
run run vendor-ipu-pod16-conformer-pytorch --set 'faults.link=0-1 0.01' --set 'faults.link2=2-3 0.01' --set precision.loss_scale=3
gives 0 'no effect here: precision.loss_scale, faults.link' "of two cuts that do the same the second has an effect where the first is left out"
! grep -q faults.link2 "$work/err"
result $? "and is not named with it" "$(cat "$work/err")"
run run mlperf-v1.1-closed-ipu-pod16-resnet50 --set training.reference_round=v1.0 --runs 2
! grep -q 'no effect' "$work/err"
result $? "what drawn runs alone rest on is not" "$(cat "$work/err")"
# 12811.67 samples of 3520 a step are 4 steps.
run run "$recipe" --set parallel.replicas=16 --set parallel.micro_batch=22 --set parallel.gradient_accumulation=10 --set training.epochs=0.01 --set hosts.steps_per_call=72
gives 0 "podbench: $recipe: the run has 4 steps of the 72 of a call, so it counts 5.6 % of the cost of a call; hosts.steps_per_call=4 counts all of it" "a run of less than a call is told"
for steps in 0 3 4; do
    run run "$recipe" --set parallel.replicas=16 --set parallel.micro_batch=22 --set parallel.gradient_accumulation=10 --set training.epochs=0.01 --set hosts.steps_per_call=$steps
    [ "$status" -eq 0 ] && ! grep -q 'the run is' "$work/err"
    result $? "and one of a call or more, of $steps steps, is not" "$(cat "$work/err")"
done
run run vendor-ipu-pod4-resnet50-tf1 --set parallel.gradient_accumulation=4 --set parallel.micro_batch=8 --set parallel.gradient_accumulation=8
gives 0 'podbench: --set parallel.gradient_accumulation=8 replaces --set parallel.gradient_accumulation=4' "of a key set twice the last one holds, aloud"
[ "$(wc -l <"$work/err")" -eq 1 ]
result $? "and of one set once nothing is said" "$(cat "$work/err")"
run run vendor-ipu-pod4-resnet50-tf1 --set parallel.micro_batch=4 --set parallel.micro_batch=8
gives 0 'podbench: --set parallel.micro_batch=8 replaces --set parallel.micro_batch=4' "so it is of two that stand side by side"
run run prediction-bow-pod64-rnnt --unfolded
gives 0 'on IPUs 0-1;' "the busy IPU is that of the first replica, though the next one's is busy too"
run run mlperf-v2.0-closed-bow-pod16-bert-large --set parallel.rts_domain=pod --set framework.uploads_per_call=3 --set framework.upload_s=0
gives 0 'no effect here: parallel.rts_domain, framework.uploads_per_call' "so are a pod that all replicas share, and uploads that take no time"
run run mlperf-v2.0-closed-bow-pod16-bert-large --set framework.uploads_per_call=0 --set framework.upload_s=0.1 --set framework.output_reductions=9 --set hosts.instances=2 \
    --set hosts.steps_per_call=0
gives 0 'no effect here: framework.uploads_per_call, framework.upload_s' "and no uploads and their time at the end of no call; evaluations still average their outputs"
run run mlperf-v1.1-closed-ipu-pod16-bert-large --set data.synthetic=yes --set framework.fetch_threads=2 --set framework.outputs_each_micro_batch=no
gives 0 'no effect here: framework.fetch_threads, framework.outputs_each_micro_batch' "and who serves exchanges that nobody waits for"
run run mlperf-v1.1-closed-ipu-pod16-bert-large --set parallel.io_tiles=32 --set framework.outputs_each_micro_batch=no
gives 0 'no effect here: framework.outputs_each_micro_batch' "and an exchange for the results where I/O tiles have one for both"
run run mlperf-v1.1-closed-ipu-pod16-bert-large --set data.synthetic=yes --set framework.fetch_threads=2 --format json
[ "$(sed -n '/"notes": \[/,/\]/p' "$work/out" | sed -n 's/^ *"\(.*\)",*$/podbench: \1/p')" = "$(cat "$work/err")" ] && grep -q 'no effect here: framework.fetch_threads$' "$work/err"
result $? "json has every warning among its notes" "$(grep -A3 '"notes"' "$work/out"; cat "$work/err")"
run run mlperf-v2.0-closed-bow-pod64-bert-large --set framework.fetch_threads=2
gives 0 'no effect here: framework.fetch_threads' "and how many serve replicas that need not wait for one another"
run run mlperf-v1.1-closed-ipu-pod16-bert-large --set framework.fetch_threads=2 --set framework.outputs_each_micro_batch=no
! grep -q 'no effect' "$work/err"
result $? "those that replicas wait for do have one" "$(cat "$work/err")"
run run mlperf-v2.0-closed-bow-pod128-bert-large --set parallel.rts_domain=pod --set framework.uploads_per_call=3
! grep -q 'no effect' "$work/err"
result $? "one of several pods, and uploads, do have one" "$(cat "$work/err")"

run run "$recipe" --format json
keys=$(perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>)->[0]; my $s = 0; $s += $_ for values %{$o->{breakdown}};
    for (qw(id workload system ipus global_batch throughput_samples_per_s step_time_s samples_to_converge time_to_train_s fits
            memory_peak_bytes_per_tile mfu hfu breakdown)) { exists $o->{$_} or print "no $_ " }
    abs($s - $o->{step_time_s}) < 1e-9 * $s or print "breakdown sums to $s "' <"$work/out")
[ "$status" -eq 0 ] && [ -z "$keys" ] && [ ! -s "$work/err" ]
result $? "run --format json: an array of one object, every member, a breakdown that sums to the step" "$keys"
run run "$recipe" --set parallel.micro_batch=16 --set machine.clock_hz=2e9 --format json
perl -MJSON::PP -e 'local $/; my $m = decode_json(<STDIN>)->[0]{made_by};
    exit !("@{$m->{overrides}}" eq "parallel.micro_batch=16 machine.clock_hz=2e9" && $m->{podbench} && @{$m->{sheets}} > 3 && $m->{inputs} =~ /^xxh3:/)' <"$work/out"
result $? "run --format json: overrides, sheets and version are recorded"
run run "$recipe" --set parallel.micro_batch=16 --format csv
grep -q ',parallel.micro_batch=16,[^,]*,[0-9.]*,[0-9.]*$' "$work/out"
result $? "run --format csv: overrides are recorded"
run run "$recipe" --set parallel.micro_batch=64 --format annotations
gives 1 "::error title=$recipe::does not fit: " "run --format annotations: a recipe that does not fit is an error"
run run "$recipe" --format tap
gives 0 "ok 1 - $recipe: " "run --format tap"
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "'$PODBENCH' run $recipe --set parallel.micro_batch=64" /dev/null </dev/null >"$work/out" 2>&1
    grep -q "$(printf 'fits\033\\[0m: \033\\[1;31mNO')" "$work/out" && NO_COLOR=1 script -qec "'$PODBENCH' run $recipe --set parallel.micro_batch=64" /dev/null </dev/null 2>&1 | grep -q 'fits: NO'
    result $? "a verdict of no is red on a terminal, unless NO_COLOR is set" "$(head -3 "$work/out" | cat -v)"
    TERM=dumb script -qec "'$PODBENCH' run $recipe --set parallel.micro_batch=64" /dev/null </dev/null >"$work/out" 2>&1
    grep -q 'fits: NO' "$work/out" && ! grep -q "$(printf '\033')" "$work/out"
    result $? "but not on a dumb one" "$(head -3 "$work/out" | cat -v)"
    NO_COLOR=1 script -qec "stty cols 60; '$PODBENCH' run $recipe" /dev/null </dev/null >"$work/out" 2>&1
    [ "$(tr -d '\r' <"$work/out" | awk 'length > 60' | wc -l)" -eq 0 ] && [ "$(wc -l <"$work/out")" -gt "$("$PODBENCH" run "$recipe" | wc -l)" ]
    result $? "lines are broken at a terminal's width, and whole in a pipe" "$(cat -v "$work/out")"
else
    result 0 "a verdict of no is red on a terminal # SKIP no terminal can be made here"
fi
run plan "$recipe"
[ "$status" -eq 0 ] && [ "$(wc -l <"$work/out")" -lt 40 ] && "$PODBENCH" plan "$recipe" --all | grep -q '^split: the number of parts'
result $? "plan: a screen; --all has every operation, and says what splits mean" "$(wc -l <"$work/out")"
# Of a product the parts that are computed at once, of any other operation at most all tiles of the IPU.
"$PODBENCH" plan "$recipe" --all | awk '/^operations:/ { getline; ops = 1; at = index($0, " tiles") + 6; next } /^split:/ { ops = 0 } !ops { next }
    { n++; tiles = substr($0, at - 6, 6) + 0; product = 1; parts = 0; sub(/ serial .*/, "") }
    { for (i = 1; i <= NF; i++) if ($i ~ /^[bfkgio][0-9]+$/) { product *= substr($i, 2); parts++ } }
    parts { n_split++; if (parts != 6 || tiles != product) bad = bad "\n" $0 } tiles > 1472 { bad = bad "\n" $0 } END { print n, n_split, bad; exit bad || n_split < 100 || n < 2 * n_split }' >"$work/tiles"
result $? "plan --all: an operation's tiles are the product of its parts" "$(head -5 "$work/tiles")"
run machine bow-pod16
[ "$status" -eq 0 ] && ! grep -q 'ipu0 *ipu1' "$work/out" && "$PODBENCH" machine bow-pod16 --topology | grep -q '^  ipu0  *ipu1  *rung  *82.56  *0.255$'
result $? "machine: kinds of links; --topology has every link"
run run "$recipe" --set parallel.micro_batch=80
[ "$status" -eq 1 ] && [ "$(sed -n 2p "$work/out" | cut -c1-8)" = 'fits: NO' ]
result $? "run: exit 1 where it does not fit, and the verdict comes first" "$(head -3 "$work/out")"
grep -A1 '^does not fit; what was tried' "$work/out" | grep -q '^  .*, and .* fits (.* likely), '
result $? "where no single change makes it fit, two together do" "$(grep -A3 '^does not fit' "$work/out")"
run run "$recipe"
gives 0 'fits: yes' "run: the verdict comes first"
[ "$(wc -l <"$work/out")" -le 13 ]
result $? "run answers in thirteen lines"
run run mlperf-v1.1-closed-ipu-pod16-resnet50 --set machine.link_bytes_per_s=1e8
gives 0 'bound by: links between IPUs, ' "what a step is bound by is the largest part of it: links a hundred times slower"
run run mlperf-v1.1-closed-ipu-pod16-resnet50 --set machine.exchange_bytes_per_cycle=1
gives 0 'bound by: exchange on the chip, ' "or an exchange of a byte a cycle"
run run "$recipe" vendor-c600-resnet50-b1-poprt --format json
perl -MJSON::PP -e 'local $/; exit !(ref decode_json(<STDIN>) eq "ARRAY")' <"$work/out"
result $? "run of several: an array"
run run "$recipe" --format csv
[ "$(wc -l <"$work/out")" -eq 2 ]
result $? "run --format csv: a header and a row"
run run "$recipe" --all --set recipe.workload=resnet18 --set parallel.recompute=layer
gives 0 'predicted_time_to_train_s        -' "another workload in an MLPerf recipe: it runs, and nothing is predicted of its convergence"
run run "$recipe" --set parallel.gradient_accumulation=7
gives 0 'per step of 2240 samples' "--set changes the run: 20 x 7 x 16 = 2240"
run timeline "$recipe" --trace "$work/trace.json"
perl -MJSON::PP -e 'local $/; open F, "<", $ARGV[0] or die; decode_json(<F>)' "$work/trace.json"
result $? "timeline --trace: valid JSON"
run plan "$recipe"
gives 0 '' "plan"

cp "workloads/recipes/$recipe.ini" "$work/recipe without ending"
cp system-model/specs/ipu-pod16.csv "$work/sheet"
run run "$work/recipe without ending" --set "recipe.system=$work/sheet"
gives 0 '16 IPUs of sheet' "a recipe and a sheet by any path with a folder in it"

# A machine of one's own, from copies of the sheets: what was fitted of the chip's generation holds for the copy too.
cp system-model/specs/bow.csv "$work/mine-chip.csv"
sed 's/^chip,[^,]*/chip,mine-chip/' system-model/specs/bow-2000.csv >"$work/mine-board.csv"
sed 's/^board,[^,]*/board,mine-board/' system-model/specs/bow-pod16.csv >"$work/mine.csv"
"$PODBENCH" run mlperf-v2.0-closed-bow-pod16-resnet50 --set parallel.micro_batch=21 --format csv | sed 's/\(,[^,]*\)\{4\}$//' | cut -d, -f4- >"$work/of-bow"
"$PODBENCH" run mlperf-v2.0-closed-bow-pod16-resnet50 --set parallel.micro_batch=21 --set "recipe.system=$work/mine.csv" --format csv | sed 's/\(,[^,]*\)\{4\}$//' | cut -d, -f4- >"$work/of-copy"
[ -s "$work/of-bow" ] && cmp -s "$work/of-bow" "$work/of-copy"
result $? "a copy of a chip, a board and a system runs as they do" "$(cat "$work/of-bow" "$work/of-copy")"
run run mlperf-v2.0-closed-bow-pod16-resnet50 --set "recipe.system=$work/mine.csv"
gives 0 'trust: 90 % interval' "and its values are known under any name"

# A table of one's own: recipes by id, and beside the table; a copy that kept the id of the original stays apart from it.
mkdir -p "$work/mine/recipes"
cp "workloads/recipes/$recipe.ini" "$work/mine/recipes/copy.ini"
sed 's/^system = .*/system = my pod.csv/; s/^replicas = .*/replicas = 64/' "workloads/recipes/$recipe.ini" >"$work/mine/recipes/pod.ini"
cp system-model/specs/ipu-pod64.csv "$work/mine/recipes/my pod.csv"
cat >"$work/mine/table.csv" <<EOF
id,recipe,metric,value,unit,tolerance,role,source,quote,note
copy,recipes/copy.ini,throughput_samples_per_s,30000,samples/s,0.2,validate,me,,
pod,recipes/pod.ini,throughput_samples_per_s,110000,samples/s,0.2,validate,me,,
id,$recipe,throughput_samples_per_s,30000,samples/s,0.2,validate,me,,
EOF
run check --published "$work/mine/table.csv" --format csv
[ "$status" -eq 0 ] && [ "$(cut -d, -f6 "$work/out" | tr '\n' ' ')" = 'system ipu-pod16 my pod ipu-pod16 ' ] &&
    [ "$(grep -c ',pass,' "$work/out")" -eq 3 ]
result $? "check --published: recipes and sheets beside the files that name them" "$(cat "$work/out" "$work/err")"
"$PODBENCH" list recipes | head -1 >/dev/null
"$PODBENCH" list recipes >/dev/full 2>"$work/err"
[ $? -eq 2 ] && grep -q '^podbench: cannot write all of standard output' "$work/err"
result $? "a full disk is not silent"
run timeline "$recipe" --trace /dev/full
[ "$status" -eq 2 ] && [ -c /dev/full ] && grep -q '^podbench: /dev/full: cannot be written completely' "$work/err"
result $? "timeline --trace to a device that is full: told, and the device stays" "$(ls -l /dev/full; cat "$work/err")"
# A key without effect has none: packs are of sequences.
run run mlperf-v1.1-closed-ipu-pod16-resnet50 --format json
grep throughput_samples "$work/out" >"$work/plain"
run run mlperf-v1.1-closed-ipu-pod16-resnet50 --format json --set data.sequences_per_pack=64
grep throughput_samples "$work/out" | cmp -s - "$work/plain" && [ -s "$work/plain" ] && grep -q 'no effect here: data.sequences_per_pack' "$work/err"
result $? "sequences a pack change nothing of images" "$(cat "$work/err")"
done_testing
