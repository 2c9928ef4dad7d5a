#!/bin/sh
# What run --mllog writes, score and lint read the same way.
. tests/tap.sh
recipe=mlperf-v1.1-closed-ipu-pod16-resnet50

for r in mlperf-v1.0-closed-ipu-pod16-bert-large mlperf-v1.1-closed-ipu-pod64-resnet50 mlperf-v2.0-open-bow-pod64-transformer-transducer; do
    rules=$(echo "$r" | sed 's/mlperf-v\(...\).*/\1.0/')
    rm -rf "$work/logs"
    run run "$r" --mllog "$work/logs" --seed 4 --format json
    of_run=$(perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>)->[0]{distribution}; printf "%.3f", $d->{score_minutes} // 0' <"$work/out")
    run score "$work/logs" --format json
    of_score=$(perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>)->[0]; printf "%.3f", $d->{score_minutes} // 0' <"$work/out")
    awk -v a="$of_run" -v b="$of_score" 'BEGIN { d = a - b; exit !(d * d < 0.0021 ^ 2) }'
    result $? "run --mllog and score agree: $r" "run $of_run, score $of_score"
    run lint "$work/logs" --ruleset "$rules"
    [ "$status" -le 1 ] && ! grep ' error: ' "$work/out" | grep -qv ' error: eval_accuracy: none of'
    result $? "lint finds nothing but runs that did not converge: $r" "$(head -5 "$work/out")"
done
cp -r "$work/logs" "$work/logs1"
"$PODBENCH" run "$r" --mllog "$work/logs" --seed 4 --force >/dev/null
diff -r "$work/logs" "$work/logs1" >/dev/null
result $? "run --mllog: the same seed gives the same bytes"
# What someone put beside the logs stays there; what another submission had more of does not; what is begun is no submission yet.
logs=$(dirname "$(find "$work/logs" -name result_0.txt)")
echo rcp-bypass >"$logs/package_checker_params"
: >"$logs/.notes"
cp "$logs/result_0.txt" "$logs/result_70.txt"
: >"$logs/scaling.json.podbench-00000000.new"
rm "$logs/result_0.txt"
cp -r "$logs" "$logs.podbench-00000000.new"
refuses "holds logs already: name another folder, or replace them by --force" "one log alone is not written over" run "$r" --mllog "$work/logs" --seed 4
run score "$work/logs"
gives 0 "$logs.podbench-00000000.new: is not finished: its writer is at work, or was killed: not read" "a submission that was begun has no score"
"$PODBENCH" run "$r" --mllog "$work/logs" --seed 4 --force >/dev/null
rm -r "$logs.podbench-00000000.new"
[ "$(cat "$logs/package_checker_params")" = rcp-bypass ] && [ -e "$logs/.notes" ] && rm "$logs/package_checker_params" "$logs/.notes" &&
    diff -r "$work/logs" "$work/logs1" >"$work/out"
result $? "run --mllog --force keeps what is not a submission's" "$(cat "$work/out")"
mkdir "$logs/mine"
refuses "/mine: cannot be kept with the new logs: Operation not permitted; move it, or name another folder" "a folder beside the logs is not lost" \
    run "$r" --mllog "$work/logs" --seed 4 --force
[ -d "$logs/mine" ] && rmdir "$logs/mine" && diff -r "$work/logs" "$work/logs1" >"$work/out"
result $? "and then nothing changes" "$(cat "$work/out")"
# Options of drawn runs where none are drawn, keys that those do not take, logs that would fill the disk.
for option in --draw-until-valid "--seed 4"; do
    # shellcheck disable=SC2086
    refuses "run: ${option% 4} is for drawn runs: it needs --runs N or --mllog DIR" "$option without runs" run "$recipe" $option
done
refuses "run: --force replaces logs: it needs --mllog DIR" "--force without logs" run "$recipe" --runs 2 --force
bert=mlperf-v2.0-closed-bow-pod16-bert-large
run run $bert --runs 5 --set training.samples_to_converge=1e6 --set training.evaluations=3
gives 0 "podbench: $bert: no effect on the drawn runs: training.samples_to_converge, training.evaluations" "keys that drawn runs do not take are told"
run run $bert --runs 10 --draw-until-valid --format tap
gives 0 "podbench: drawn runs are printed only as text and json; tap has the recipe's row" "drawn runs where only the verdict is printed"
run run $bert --runs 5 --set training.eval_every=50000
! grep -q "no effect on the drawn runs" "$work/err"
result $? "and those that they take are not" "$(cat "$work/err")"
refuses "a log of 38 epochs and 48684346 evaluations, want at most 100000 and 100000; raise training.eval_every, or lower training.epochs" \
    "logs of evaluations without end" run "$recipe" --runs 2 --mllog "$work/endless" --set training.eval_every=1 --set training.epochs=38
refuses "a log of 100001 epochs and 1 evaluation, want at most 100000" "and of epochs" \
    run "$recipe" --runs 2 --mllog "$work/endless" --set training.epochs=100001 --set training.eval_every=1000000000000
[ ! -e "$work/endless" ]
result $? "neither leaves a folder"
refuses "no such" "score of a folder that is not there" score "$work/none"
refuses "is unknown; known: v0.7" "lint by rules that are not there" lint "$work/logs" --ruleset 9.9.9
refuses "no drawn submission has a score: of 2 runs none is left without the 1 fastest and the 1 slowest, which the round leaves out; want at least 3" \
    "drawing until one is valid ends where none can be" run mlperf-v2.0-closed-bow-pod16-resnet50 --runs 2 --draw-until-valid
done_testing
