#!/bin/sh
# What is written as MLPerf logs, and what judges of them say, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v2.0-closed-bow-pod16-resnet50 bert=mlperf-v1.0-closed-ipu-pod16-bert-large

show run $resnet --mllog "$work/logs" --seed 3
show run $bert --mllog "$work/bert" --seed 5 --runs 3
show_file $(find "$work/logs" "$work/bert" -type f ! -name 'result_*' | sort) $(find "$work/logs" -name result_0.txt) $(find "$work/bert" -name result_2.txt)
printed logs

for format in text csv json; do
    show score "$work/logs" --format $format
    show compare-logs "$work/logs" --format $format
done
show score "$work/bert"
show score "$work/bert" --train-samples --format json
show compare-logs "$work/bert" --set parallel.gradient_accumulation=30
for format in text csv json tap junit markdown annotations; do
    show lint "$work/logs" "$work/bert" --format $format
done
show lint "$work/logs" --ruleset 2.1.0
show lint "$work/bert" --rcp-bypass --seed-bypass
# Two folders in one tree, one of a round that is none, one that lies too deep, and none at all.
mkdir "$work/both" "$work/empty"
mv "$work/bert" "$work/logs" "$work/both"
mkdir -p "$work/both/training_results_v9.9/me/results/box/bert" "$work/both/$(printf 'a/%.0s' $(seq 33))"
cp "$(find "$work/both" -name result_1.txt | sort | head -1)" "$work/both/training_results_v9.9/me/results/box/bert/result_0.txt"
for format in text csv; do
    show compare-logs "$work/both" --format $format
done
show score "$work/both//"
show score "$work/both/training_results_v9.9" --format json
# A system's description of a megabyte is read, one byte more is not.
description=$(find "$work/both/bert" -path '*/systems/*' -name '*.json')
cp "$description" "$work/description"
printf '%*s' $((1048576 - $(wc -c <"$description"))) '' >>"$description"
show lint "$work/both/bert"
printf ' ' >>"$description"
show lint "$work/both/bert"
cp "$work/description" "$description"
show lint "$work/both/bert//"
for command in score compare-logs lint; do
    show $command "$work/empty"
done
mv "$work/both/bert" "$work/both/logs" "$work"
printed judged

# The table of rounds, with energy from power logs; predictions of it among made-up results of an earlier round.
cp -rL tests/root "$work/root"
cp workloads/convergence/accelerators.csv "$work/root/workloads/convergence/"
export XDG_CACHE_HOME="$work/cache" PODBENCH_ROOT="$work/root"
power() { printf ':::MLLOG {"namespace": "", "time_ms": %d, "event_type": "POINT_IN_TIME", "key": "power_%s", "value": %s, "metadata": {}}\n' "$@"; }
folder=$(dirname "$(find "$work/logs" -name result_0.txt)")
for i in 0 1 2 3 4; do
    mkdir -p "$folder/power/result_$i"
    power 1000 measurement_start null 2000 reading 3000 2000 measurement_stop null >"$folder/power/result_$i/node_0.txt"
done
for format in text csv json; do
    show rounds "$work/logs" "$work/bert" --format $format
done
run rounds "$work/logs" "$work/bert" --format csv
cp "$work/out" "$work/results.csv"
cp "$work/out" "$work/alone.csv"
i=0
for submitter in podbench-simulated one two three four; do
    i=$((i + 1))
    sed -n "s/^v2.0,2022\(.*\),podbench-simulated,/v1.1,2021\1,$submitter,/; s/,3520,/,$((i * 1200)),/; s/,38,\([^,]*,epochs\)/,$((36 + i)),\1/; /^v1.1/p" "$work/out" >>"$work/results.csv"
done
for predictor in podbench convergence; do
    show judge $predictor "$work/results.csv" --out "$work/$predictor.csv"
    show judge $predictor "$work/results.csv" --format json
done
show judge convergence "$work/alone.csv" --format json       # without intervals
sed '2s/podbench-simulated/nobody/; 3s/,[^,]*,[^,]*,fitted/,,,fitted/; 4,$d' "$work/podbench.csv" >"$work/few.csv"
show judge "$work/few.csv" "$work/results.csv" --all --format json
rm -r "$folder/power"
unread=$work/unread/training_results_v2.0/me/results/it/bert
mkdir -p "$unread"
echo 'not a log' >"$unread/result_0.txt"
show rounds "$work/unread" --format json
printed rounds

# Logs that were tampered with.
log=$(find "$work/logs" -name result_1.txt)
sed -i '/"key": "seed"/d; s/"key": "global_batch_size", "value": [0-9]*/"key": "global_batch_size", "value": "many"/' "$log"
sed -i 's/"time_ms": \([0-9]*\)[0-9]\{5\},/"time_ms": \100000,/; /"key": "run_stop"/d' "$(find "$work/logs" -name result_2.txt)"
rm "$(find "$work/logs" -name result_3.txt)"
echo 'not a log' >"$(find "$work/logs" -name result_4.txt)"
show lint "$work/logs"
for format in text json csv junit tap markdown; do
    show lint "$log" --ruleset 2.0.0 --format $format
done
show lint "$log" "$work/nowhere"
cp "$log" "$work/alone.txt"
show lint "$work/alone.txt" --format junit
show lint "$work/alone.txt" --format csv
show score "$work/logs" --format json
show compare-logs "$work/logs"
for bad in tests/bad/mllog/*; do
    show lint "$bad" --ruleset 1.1.0
done
printed tampered

# ---- logs by hand: SECONDS KEY VALUE [METADATA], a line each; what marks a run has says how it is timed.
tree=$work/made/training_results_
made() { # ROUND SYSTEM BENCHMARK N - a log from standard input
    mkdir -p "$tree$1/me/results/$2/$3"
    awk '{ meta = $4 == "" ? "{}" : $4
           gsub(/,/, ", ", meta)
           type = $2 ~ /_start$/ ? "INTERVAL_START" : $2 ~ /_stop$/ ? "INTERVAL_END" : "POINT_IN_TIME"
           printf ":::MLLOG {\"namespace\": \"\", \"time_ms\": %.0f, \"event_type\": \"%s\", \"key\": \"%s\", \"value\": %s, \"metadata\": %s}\n",
               1600000000000 + $1 * 1000, type, $2, $3, meta }' >"$tree$1/me/results/$2/$3/result_$4.txt"
}
head_of() { # BENCHMARK SEED BATCH TRAIN_SAMPLES [DIVISION]
    printf '%s\n' "-40 submission_benchmark \"$1\""  "-40 submission_division \"${5:-open}\"" '-40 submission_org "me"' '-40 submission_platform "it"' \
        '-40 submission_status "onprem"' '-39 cache_clear true' '-39 init_start null' "-38 seed $2" "-38 global_batch_size $3" \
        "-38 train_samples $4" '-38 eval_samples 500' '-38 gradient_accumulation_steps 3' '-2 init_stop null' '0 run_start null'
}
for i in 0 1 2 3 4; do
    {
        head_of resnet $((i % 4)) 64 7000
        for e in 1 2 3; do
            at=$((e * 100 + i * e * e))
            printf '%s\n' "$((at - 90)) epoch_start null {\"epoch_num\":$e}" "$at epoch_stop null {\"epoch_num\":$e}" \
                "$at eval_start null {\"epoch_num\":$e}" "$((at + 5 + i)) eval_accuracy 0.$((e * 2 + i)) {\"epoch_num\":$e}" "$((at + 6 + i)) eval_stop null {\"epoch_num\":$e}"
        done
        [ $i -eq 3 ] || echo '400 run_stop null {"status":"success"}'
    } | made v1.1 box resnet $i
    {
        head_of ssd "\"$i\"" $((32 + i)) 900
        for b in 1 2 3 4; do
            at=$((b * 50 + i * b * b))
            printf '%s\n' "$((at - 45)) block_start null {\"first_epoch_num\":$((b * 2 - 1)),\"epoch_count\":2}" "$at block_stop null {\"first_epoch_num\":$((b * 2 - 1))}" \
                "$((at + 3 + b)) eval_accuracy 0.$b {\"epoch_num\":$((b * 2))}"
        done
        echo "$((300 + i * 7)) run_stop null {\"status\":\"$([ $i -lt 2 ] && echo success || echo aborted)\"}"
    } | made v2.0 box ssd $i
    {
        head_of bert "-$i.5" 448 $((9000 + i)) closed
        for b in 1 2 3 4 5; do
            at=$((b * 50 + i * b * b))
            [ $i -gt 2 ] || printf '%s\n' "$((at - 45)) block_start null {\"first_epoch_num\":1,\"epoch_count\":1}" "$at block_stop null {\"first_epoch_num\":1}"
            echo "$((at + 3 + b)) eval_accuracy 0.$((b + 2)) {\"epoch_num\":$((b * 1000 + b * b * 10 * (i % 2)))}"
        done
        echo "$((300 + i * 7)) run_stop null {\"status\":\"success\"}"
        echo "$((300 + i * 7)) train_samples $((5000 + i)) {}"
    } | made v1.0 box bert $i
    {
        head_of gpt3 $((7 * i + 1)) 1536 20000
        for b in 1 2 3 4 5; do
            at=$((b * 50 + i * b * b))
            printf '%s\n' "$((at - 45)) block_start null {\"samples_count\":$((b * 24576))}" "$at block_stop null {\"samples_count\":$((b * 24576))}" \
                "$((at + 3 + b)) eval_accuracy 2.$((9 - b)) {\"samples_count\":$((b * 24576 - i))}"
        done
        echo "$((299 - i * 100)) run_stop null {\"status\":\"success\"}"
    } | made v3.1 box gpt3 $i
done
{ head_of bert 1 8 1; echo '9 eval_accuracy 0.8 {"epoch_num":1}'; echo '10 run_stop null {"status":"success"}'; echo '10 train_samples 77 {}'; } | made v0.7 bare bert 0
{ head_of bert 1 8 1; echo '-10 run_stop null {"status":"success"}'; } | made v0.7 bare bert 1
for system in one two; do               # a benchmark whose reference points are not there is refused in each folder
    { head_of dlrm 1 8 1 closed; echo '9 eval_accuracy 0.8 {"epoch_num":1}'; echo '10 run_stop null {"status":"success"}'; } | made v2.1 $system dlrm 0
done
for round in v1.1 v2.0 v1.0 v3.1 v0.7 v2.1; do
    show score "$tree$round" --format json
    case $round in v0.7 | v1.1) show lint "$tree$round" --format json ;; *) show lint "$tree$round" --format csv ;; esac
done
show score "$work/made" --train-samples --format csv
for i in 0 1; do        # of two runs in the open, the fastest and the slowest are dropped: none is left
    { head_of resnet 1 64 7000 open; echo '9 eval_accuracy 0.8 {"epoch_num":1}'; echo '10 run_stop null {"status":"success"}'; } | made v2.1 pair resnet $i
done
show score "${tree}v2.1/me/results/pair"
show lint "$work/made"
show rounds "$work/made" --format json
# Rules that are provisional, and a log of the weak scaling of MLPerf HPC.
printf ':::MLLOG {"key": "submission_benchmark", "value": "flux1", "time_ms": 1, "metadata": {}}\n' >"$work/flux1.txt"
show lint "$work/flux1.txt" --ruleset v6.1 --format json
printed made
done_testing
