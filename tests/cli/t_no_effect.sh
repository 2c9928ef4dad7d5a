#!/bin/sh
# podbench run: a key of which the warning says that it has no effect moves no number, and a key that moves one is not said to have none.
. tests/tap.sh

numbers() { # "RECIPE OPTIONS" SETTING - prints the numbers of an answer; keeps the warnings
    # shellcheck disable=SC2086
    "$PODBENCH" run $1 --set "$2" --format json 2>"$work/err" | grep -E '"(throughput_samples_per_s|step_time_s|time_to_train_s|memory_peak_bytes_per_tile|loop_cycles)":'
}
compared() { # "RECIPE OPTIONS" SETTING OTHER-SETTING
    numbers "$1" "$2" >"$work/one"
    numbers "$1" "$3" >"$work/other"
    moved=0
    cmp -s "$work/one" "$work/other" || moved=1
    idle=0
    grep -q "no effect here: .*${3%%=*}" "$work/err" && idle=1
    [ -s "$work/one" ] && [ $moved -ne $idle ]
    result $? "$3 moves numbers or is said not to: $1" "moved $moved, said to have no effect $idle: $(cat "$work/err")"
}
gptj=vendor-ipu-pod16-gpt-j-popxl
compared $gptj parallel.loss_slices=1 parallel.loss_slices=2
compared $gptj data.graphs_per_pack=1 data.graphs_per_pack=1000
compared $gptj hosts.instances=1 hosts.instances=2
compared mlperf-v2.0-closed-bow-pod16-resnet50 hosts.count=1 hosts.count=2
compared "field-ipu-pod16-gpt2-small-sl128-infer-optimum --set hosts.instances=4" framework.output_reductions=0 framework.output_reductions=9
one_call="field-ipu-pod16-hubert-base-optimum --set hosts.steps_per_call=0"
compared "$one_call" framework.stream_copy_s=0 framework.stream_copy_s=0.01
compared "$one_call" framework.host_data=in-call framework.host_data=ahead
# Either of two settings lets each replica fetch for itself; the other one alone has no effect.
"$PODBENCH" run mlperf-v1.1-open-ipu-pod64-bert-large --set framework.fetch_threads=0 --set hosts.instances=16 >/dev/null 2>"$work/err"
grep -q 'no effect here: framework.fetch_threads$' "$work/err"
result $? "one of two settings that do the same" "$(cat "$work/err")"
compared field-ipu-pod16-own-transformer-optimum parallel.embedding_split=1 parallel.embedding_split=2
compared vendor-c600-bert-large-packed-sl384-b4-poprt framework.even_slices=no framework.even_slices=yes

# A limit that 0 lifts.
compared vendor-ipu-pod4-resnet50-caraml-4ipu-gbs32 hosts.sample_s=0.01 hosts.sample_s=0

# Loader processes share the time of rows, also where the framework's sheet alone gives it; a call that prepares its rows itself has one core for them.
squad="field-ipu-pod16-bert-base-squad-infer-optimum --set hosts.sample_s=0 --set hosts.workers=2"
# shellcheck disable=SC2086
"$PODBENCH" run $squad --set framework.host_data=ahead >/dev/null 2>"$work/ahead"
# shellcheck disable=SC2086
"$PODBENCH" run $squad --set framework.host_data=in-call >/dev/null 2>"$work/in-call"
! grep -q "no effect here: .*hosts.workers" "$work/ahead" && grep -q "no effect here: .*hosts.workers" "$work/in-call"
result $? "loaders of a framework that counts numbers" "$(cat "$work/ahead" "$work/in-call")"
{ cat workloads/recipes/vendor-c600-resnet50-b16-poprt.ini; printf '\n[training]\nrate = logged\n'; } >"$work/mine.ini"
"$PODBENCH" run "$work/mine.ini" >/dev/null 2>"$work/err"
grep -q "no effect here: training.rate" "$work/err"
result $? "a logged rate of an inference without a number of samples" "$(cat "$work/err")"

"$PODBENCH" run field-ipu-m2000-keras-mnist-spc1 --set parallel.embedding_split=2 >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q "parallel.embedding_split: keras-mnist.onnx has no word table of 2 parts" "$work/err"
result $? "a file that is trained, and has no table to split" "$(cat "$work/err")"

# Samples to converge are those of another run only if what was counted has changed, not if a key is left out that says what the model has anyway.
"$PODBENCH" run mlperf-v2.0-closed-bow-pod16-bert-large --set data.sequence_length= >/dev/null 2>"$work/err"
! grep -q "counted with another" "$work/err"
result $? "a length that the model has anyway" "$(cat "$work/err")"
"$PODBENCH" run mlperf-v2.0-closed-bow-pod16-bert-large --set data.sequence_length=128 >/dev/null 2>"$work/err"
grep -q "counted with another data.sequence_length, and" "$work/err"
result $? "another length" "$(cat "$work/err")"
done_testing
