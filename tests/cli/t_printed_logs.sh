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
printed judged

# Logs that were tampered with.
log=$(find "$work/logs" -name result_1.txt)
sed -i '/"key": "seed"/d; s/"key": "global_batch_size", "value": [0-9]*/"key": "global_batch_size", "value": "many"/' "$log"
sed -i 's/"time_ms": \([0-9]*\)[0-9]\{5\},/"time_ms": \100000,/; /"key": "run_stop"/d' "$(find "$work/logs" -name result_2.txt)"
rm "$(find "$work/logs" -name result_3.txt)"
echo 'not a log' >"$(find "$work/logs" -name result_4.txt)"
show lint "$work/logs"
show lint "$log" --format json
show score "$work/logs" --format json
show compare-logs "$work/logs"
for bad in tests/bad/mllog/*; do
    show lint "$bad" --ruleset 1.1.0
done
printed tampered
done_testing
