#!/bin/sh
# Frameworks: the weight update tensor by tensor, what a recipe sets itself, schedules that a framework cannot run.
. tests/tap.sh

bert=mlperf-v1.1-closed-ipu-pod64-bert-large
run plan $bert --update
[ "$status" -eq 0 ] && head -1 "$work/out" | grep -q '^weight update of bert-large on ipu-pod64, by popart-2.1.0: one IPU after the other; tensors on all IPUs are merged$'
result $? "plan --update: whose program it is, and in which order" "$(head -3 "$work/out")"
awk '$1 == 3 && $3 == 4194304 { print $6 }' "$work/out" | tr '\n' ' ' >"$work/steps"
[ "$(cat "$work/steps")" = "zero rearrange reduce clip optimizer norms gather copy-back " ]
result $? "and what a feed-forward matrix goes through" "$(cat "$work/steps")"
run timeline $bert --set parallel.gradient_accumulation=20 --format csv
[ "$(awk -F, '$4 ~ /^(reduce|clip|optimizer|norms|gather|call|upload)$/ { print $4 }' "$work/out" | sort -u | tr '\n' ' ')" = "call clip gather norms optimizer reduce upload " ]
result $? "the timeline shows its steps, the call and the upload" "$(cut -d, -f4 "$work/out" | sort | uniq -c)"
run plan $bert --update --set framework.clip_norm=no --set framework.merge_buffer_bytes=1e12
grep -q '^  all  *1  *[0-9]*  gradients ' "$work/out" && ! grep -q ' clip ' "$work/out"
result $? "a recipe's own settings take the place of the sheet's" "$(head -5 "$work/out")"

refuses "podbench: plan: --update prints the weight update alone, tensor by tensor; leave --all out" "all of it and the update alone are two things" \
    plan $bert --update --all
refuses "podbench: vendor-ipu-m2000-bert-large-infer-b2: --update: inference updates no weights; leave it out" "inference has no update" \
    plan vendor-ipu-m2000-bert-large-infer-b2 --update
large=vendor-c600-resnet50-b1-poprt
for what in "timeline" "timeline --format csv"; do
    # shellcheck disable=SC2086
    run $what $large --set machine.tile_memory_bytes=32768 --set machine.interleaved_bytes=8192
    [ "$status" -eq 0 ] && grep -q "^podbench: $large: does not fit: [1-9][0-9.]* [kM]*B more than a tile has; this is the time it would take if it did$" "$work/err"
    result $? "$what of what does not fit says so" "$(cat "$work/err")"
done
run plan $bert --update --set parallel.micro_batch=40
grep -q "^podbench: $bert: does not fit: [1-9][0-9.]* [kM]*B more than a tile has; this is the time it would take if it did$" "$work/err"
result $? "so does its update" "$(cat "$work/err")"
run timeline $large
[ "$status" -eq 0 ] && [ ! -s "$work/err" ]
result $? "and what fits says nothing" "$(cat "$work/err")"

for names in grouped,popart,sideways grouped,; do
    refuses "framework.schedules: '${names##*,}' of popart-2.1.0 is not a schedule; known: none, sequential, grouped, interleaved, popart" \
        "schedules that are none: '$names'" run mlperf-v1.1-closed-ipu-pod16-bert-large --set "framework.schedules=$names"
done
refuses "parallel.schedule: popart-2.1.0 cannot run grouped; want one of: popart" "a schedule that PopART does not have" \
    run $bert --set parallel.schedule=grouped
refuses "parallel.gradient_accumulation: 2048, want a multiple of 10: tensorflow-1-2.1.0 runs grouped pipelines with multiples of 2 times their 5 stages" \
    "an accumulation that TensorFlow refuses" run vendor-bow-pod16-bert-large-ph1-tf1 --set parallel.gradient_accumulation=2048
refuses "recipe.framework: 'Keras' has no sheet NAME-RELEASE.csv in" "a framework without a sheet" run $bert --set recipe.framework=Keras
refuses "unknown key in [framework]" "a key that no sheet has" run $bert --set framework.clip=yes
refuses "framework.merge_buffer_bytes" "a value out of range" run $bert --set framework.merge_buffer_bytes=-1
said() { # SDK TEXT NAME - what a run of a release says of it, and of nothing else but that another release has the same sheet
    run run $started --format csv --set "recipe.sdk=$1"
    [ "$status" -eq 0 ] && [ "$(grep -v 'no effect here: recipe.sdk$' "$work/err")" = "${2:+podbench: $started: recipe.sdk: $2}" ]
    result $? "$3" "$(cat "$work/err")"
}
started=mlperf-v2.0-closed-bow-pod16-bert-large known="(known: 2.1.0, 2.3.0, 2.5.1); using the framework sheet popart-2.1.0"
said 2.3.0 "" "a release with a sheet"
said 2.4.0 "2.4.0 has no sheet of its own $known, and the host's work on checkpoints counts no time" "a release without one, where its host work is asked for"
said "" "not given $known, and the host's work on checkpoints counts no time" "no release, where its host work is asked for"
started=vendor-bow-pod16-bert-large-ph1-tf1 known="(known: 2.1.0, 2.3.0, 2.5.1); using the framework sheet tensorflow-1-2.1.0"
said 9.9 "9.9 has no sheet of its own $known" "a release that is newer than every sheet"
said 2.4.0 "" "a release between the sheets, where no host work is asked for"
run run vendor-c600-resnet50-b1-poprt --format csv
[ "$status" -eq 0 ] && [ ! -s "$work/err" ] && grep -q '^sdk = 3' workloads/recipes/vendor-c600-resnet50-b1-poprt.ini
result $? "a newer release that is the recipe's own" "$(cat "$work/err")"
refuses "sdk: 'banana' is not a release; want numbers with points between, such as 2.5.1" "a release that is none" run $started --set recipe.sdk=banana
run framework PaddlePaddle --format csv
[ "$status" -eq 0 ] && [ "$(wc -l <"$work/out")" -eq "$(wc -l <system-model/specs/frameworks/popart-2.1.0.csv)" ] &&
    [ "$(sed 1d "$work/out" | grep -v ^popart-2.1.0 | cut -d, -f1-3)" = paddlepaddle-2.1.0,phases,no ]
result $? "a sheet of one value: every other is its engine's" "$(cut -d, -f1-3 "$work/out" "$work/err")"
run framework 'TensorFlow 2' --format csv
[ "$(grep -c '^tensorflow-2-2.1.0,' "$work/out")" -eq 4 ] && grep -q '^tensorflow-2-2.1.0,session_calls,1,' "$work/out" && grep -q '^tensorflow-2-2.1.0,outputs_each_micro_batch,yes,' "$work/out" && grep -q '^tensorflow-1-2.1.0,prefetch_depth,3,' "$work/out"
result $? "a value of the framework's own sheet takes the place of its engine's" "$(cut -d, -f1-3 "$work/out" "$work/err")"
# Times and energy by hand: 48 checkpoints of 25,557,032 parameters; four boards for a step.
number() { # NAME ARGUMENT... - one number of the answer's JSON
    name=$1
    shift
    run "$@" --format json
    sed -n "s/^ *\"$name\": \(-*[0-9.e+-]*\),*$/\1/p" "$work/out" | head -1
}
resnet=mlperf-v1.1-closed-ipu-pod16-resnet50
all=$(number eval_time_s run $resnet --set training.save_every=1000000 --set framework.checkpoint_s_per_parameter=1e-6) none=$(number eval_time_s run $resnet)
awk "BEGIN { x = $all - $none - 48 * 25.557032; exit !(x * x < 1e-8) }"
result $? "training waits for each checkpoint" "$all $none"
boards=$(number boards_j run $resnet --set machine.board_rest_power_w=321) step=$(number step_time_s run $resnet)
awk "BEGIN { x = $boards / (4 * 321 * $step) - 1; exit !(x * x < 1e-16) }"
result $? "what boards draw besides their chips" "$boards J in $step s"
cycles=$(number memory_peak_bytes_per_tile run $resnet --set framework.exchange_target=cycles) balanced=$(number memory_peak_bytes_per_tile run $resnet --set framework.exchange_target=balanced)
[ "$balanced" -lt "$cycles" ]
result $? "exchanges that count code as well take less memory" "$balanced $cycles"
by_value=$(number loop_cycles kernel workloads/recipes/graphs/gru-1024.onnx --set framework.loops_by_value=yes)
[ "$(number loop_cycles kernel workloads/recipes/graphs/gru-1024.onnx --set framework.loops_by_value=no)" = "$(number device_cycles kernel workloads/recipes/graphs/gru-1024.onnx)" ] &&
    awk "BEGIN { exit !($by_value > $(number device_cycles kernel workloads/recipes/graphs/gru-1024.onnx)) }"
result $? "a loop by value has cycles of its own" "$by_value"
run list frameworks
[ "$status" -eq 0 ] && grep -qx popart-2.1.0 "$work/out" && [ "$(wc -l <"$work/out")" -eq "$(ls system-model/specs/frameworks/*.csv | wc -l)" ]
result $? "all sheets are listed" "$(cat "$work/out" "$work/err")"
done_testing
