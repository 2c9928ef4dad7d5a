#!/bin/sh
# podbench search: finds what a sweep of the same configurations finds; says what it proved; refuses what it cannot do.
. tests/tap.sh

resnet=mlperf-v2.0-closed-bow-pod64-resnet50
space="--over parallel.micro_batch=16,20 --over parallel.available_memory=0.2,0.3 --over parallel.io_tiles=0,32"
fixed="--set parallel.ipus_per_replica=1 --set parallel.recompute=layer --set parallel.optimizer_state=on-chip --set parallel.rts=no"
likely="--limit fits=0.7.."
run search $resnet $space $fixed $likely
gives 0 "every one that may fit" "a small space is searched whole"
cp "$work/out" "$work/out.search"
run search $resnet $space $fixed $likely --format json
best=$(sed -n '/"best": {/,/"throughput_samples_per_s"/s/.*"throughput_samples_per_s": \([0-9.e+]*\),*/\1/p' "$work/out")
run sweep $resnet $space $fixed --set parallel.gradient_accumulation=4 --set parallel.replicas=64
swept=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "throughput_samples_per_s") t = i; if ($i == "status") s = i; if ($i == "global_batch") g = i; if ($i == "fits_probability") p = i } }
                 NR > 1 && $s == "fits" && $p >= 0.7 && $g >= 4864 && $g <= 5376 && $t > m { m = $t } END { printf "%.6g", m }' "$work/out")
awk -v a="$best" -v b="$swept" 'BEGIN { exit !(b > 0 && a >= b * 0.99999) }'
result $? "nothing that a sweep finds is better" "search $best, sweep $swept"
# The gain is the ratio of what best and recipe say; what to expect of it is no more, as the best was chosen, and lies in its interval.
awk '/^best/ { sub(/.*\(/, ""); best = $1 + 0 } /^gain/ { gain = $2 + 0; for (i = 3; i <= NF; i++) { if ($i == "expect") expected = $(i + 1) + 0
         if ($i == "interval") { low = $(i + 1) + 0; high = $(i + 3) + 0 } } }
     END { exit !(gain == best && low < expected && expected < gain && expected < high && low > -100) }' "$work/out.search"
result $? "the gain has an interval" "$(grep '^gain' "$work/out.search")"
grep -q "^gain .* predicted, not tested; the best of [1-9][0-9]* that are as good" "$work/out.search"
result $? "and does not claim that it was tested"
run search $resnet $space $fixed $likely --over parallel.stash_type=fp16,fp8 --over precision.partials=fp16
grep -q "^ *no published run of this framework ([1-9][0-9]* are known) had .*precision.partials=" "$work/out" || grep -q "^gain" "$work/out"
result $? "what no published run had is named" "$(grep -A1 '^gain' "$work/out")"
# Only what surely fits counts, unless a limit says otherwise.
run search $resnet $fixed --over parallel.micro_batch=16,20 --over parallel.available_memory=0.2 --over parallel.io_tiles=32 --limit global_batch=2000..20000
sure=$(sed -n '/^best/,/^why/s/.*fits (\([0-9]*\) % likely).*/\1/p' "$work/out")
run search $resnet $fixed --over parallel.micro_batch=16,20 --over parallel.available_memory=0.2 --over parallel.io_tiles=32 --limit global_batch=2000..20000 --limit fits=0.2..
unsure=$(sed -n '/^best/,/^why/s/.*fits (\([0-9]*\) % likely).*/\1/p' "$work/out")
[ "${sure:-0}" -ge 90 ] && [ "${unsure:-100}" -lt 90 ]
result $? "what fits with less than 90 % is the best only where that is allowed" "$sure, $unsure"
run search $resnet $space $fixed $likely --limit memory=..530kB
awk '/^best/ { getline; best = $1 + 0 } END { exit !(best > 0 && best <= 530) }' "$work/out"
result $? "the fullest tile keeps its limit" "$(grep -A1 '^best' "$work/out")"
refuses "want ipus, global_batch, tokens, throughput, token_rate, fits or memory = N or LOW..HIGH" "memory in another unit is refused" search $resnet --limit memory=..3s
run search mlperf-v2.0-closed-bow-pod64-bert-large --most 300
awk '/^searched/ { sub(/.*configurations*, /, ""); simulated = $1; sub(/.*\(/, ""); unfit = $1 } END { exit !(simulated == 300 && simulated - unfit > 20) }' "$work/out"
result $? "few simulations find something that fits" "$(grep '^best\|^searched' "$work/out")"
run search mlperf-v2.0-closed-bow-pod64-bert-large --most 300 --minimise time-to-train
grep -q "time-to-train of the others is at best [0-9.]* min (" "$work/out"
result $? "a bound has its unit" "$(tail -n 1 "$work/out")"
run search $resnet $space $fixed $likely --minimise ipus --limit throughput=1e9.. --limit global_batch=1..1e6
gives 1 "none: no configuration" "a rate that none reaches"
! grep -q "inf %" "$work/out" && grep -q "none of the others reaches the limits\|every one that may fit" "$work/out"
result $? "is said in words" "$(tail -n 1 "$work/out")"
trusted() { sed -n 's/^trust: \([^)]*)\).*/\1/p; /^  open: /p' "$work/out"; }
run search $resnet $space $fixed $likely --set open.precision.partials=fp32
settings=$(sed -n '/^best/,/^why/s/^  *--set/--set/p' "$work/out") found=$(trusted)
run run $resnet $settings --set open.precision.partials=fp32
[ "$(trusted)" = "$found" ] && [ "$(echo "$found" | wc -l)" = 2 ]
result $? "readings are those of the best that was found" "$found, run alone $(trusted)"
run search $resnet $space $fixed $likely --set machine.board_power_w=1000 --format json
grep -q '^    ".*: machine.board_power_w has no effect in the best configuration"$' "$work/out"
result $? "json says what has no effect" "$(grep -A2 '"notes"' "$work/out")"
grep -q '"exact": true' "$work/out" && grep -q '"pareto_front": \[' "$work/out" && grep -q '"validity": {' "$work/out"
result $? "json says the best, the front and how far to trust it"
run search $resnet $space $fixed $likely --most 2
gives 0 "searched" "a search that is stopped says so"
grep -q "stopped early; throughput of the others is at best" "$work/out"
result $? "and how much better the rest may be" "$(tail -n 1 "$work/out")"
run search $resnet $space $fixed $likely --limit ipus=64 --limit global_batch=1..1000
gives 1 "none: no configuration that was simulated fits within the limits" "no answer is exit 1"
refuses "cannot minimise 'throughput'" "an objective the wrong way round is refused" search $resnet --minimise throughput
refuses "want ipus, global_batch, tokens, throughput, token_rate, fits or memory" "an unknown limit is refused" search $resnet --limit speed=3
refuses "--limit fits=90..: a chance is from 0 to 1, as in fits=0.9.." "per cent are no chance" search $resnet --limit fits=90..
refuses "--limit ipus=..64: ipus has a limit already; give LOW..HIGH for both ends" "of two limits neither is dropped" \
    search $resnet --limit ipus=16.. --limit ipus=..64
refuses "--minimise ipus needs a throughput to reach" "fewest IPUs of no throughput are refused" search $resnet --minimise ipus
refuses "no value of --over parcllel.micro_batch can be tried: --set parcllel.micro_batch=4: unknown section" "a key that is none is refused" \
    search $resnet --over parcllel.micro_batch=2,4
refuses "machine.clock_hzz=2e9: no sheet of this machine has such a key" "and one that no sheet has" search $resnet --over machine.clock_hzz=2e9
run search vendor-c600-resnet50-b1-poprt --over parallel.micro_batch=2,4a --most 2
gives 0 "1 of 2 values of --over parallel.micro_batch cannot be tried: --set parallel.micro_batch=4a: '4a' is not a whole number" \
    "a value that is none is told"
refuses "a search needs one share for all IPUs" "a share for each IPU is refused" \
    search mlperf-v2.0-closed-bow-pod16-bert-large --set parallel.available_memory=0.1,0.2,0.3,0.4
run search vendor-ipu-pod16-bert-base-ph1-popart --set parallel.available_memory=0.3 --set parallel.gradient_accumulation=9 --set parallel.io_tiles=32 \
    --set parallel.recompute=layer --set parallel.optimizer_state=on-chip --set parallel.rts=no --over parallel.micro_batch=2 --over parallel.ipus_per_replica=4 --most 2
gives 0 "best" "one share for all IPUs can be searched around"
# What has no effect where the search ends: values of sheets that are set or tried, and keys of the recipe. What the search chose itself is not told.
run search vendor-c600-resnet50-b1-poprt --over parallel.micro_batch=1,2 --over machine.link_bytes_per_s=1e9,2e9 --over machine.clock_hz=1.5e9,1.6e9 \
    --set machine.n_links=3 --set parallel.embedding_serial_steps=4
for key in machine.link_bytes_per_s machine.n_links parallel.embedding_serial_steps; do
    gives 0 "podbench: vendor-c600-resnet50-b1-poprt: $key has no effect in the best configuration" "told after a search: $key"
done
[ "$(grep -c "has no effect" "$work/err")" -eq 3 ]
result $? "what has an effect is not told" "$(cat "$work/err")"
# What it says to set has an effect, each of it: run, given the same settings, tells of none that has no effect, and finds the same.
run search vendor-c600-resnet50-b1-poprt --over parallel.micro_batch=1,2 --over parallel.io_tiles=0,32 --set parallel.available_memory=0.6
settings=$(sed -n '/^best/,/^why/s/^  *--set/--set/p' "$work/out") found=$(sed -n 's/^best.*, \([0-9.]* ms per step\),.*/\1/p' "$work/out")
run run vendor-c600-resnet50-b1-poprt $settings --set parallel.available_memory=0.6
! grep -q "no effect here:.*\(micro_batch\|io_tiles\|recompute\|optimizer_state\|rts\|gradient\)" "$work/err" && [ -n "$settings" ] && \
    sed -n 's/^throughput: .*, \([0-9.]*\) ms per step.*/\1/p' "$work/out" | awk -v found="${found:-0}" '{ exit !($1 > 0.995 * found && $1 < 1.005 * found) }'
result $? "settings of the best have an effect" "$settings: $(cat "$work/err"), $found, $(grep ^throughput "$work/out")"
run search $resnet --seconds 0.000001
gives 0 'stopped early, before every graph was planned; how much better the others can be is not known' "a search that is stopped prints the best so far"
run search $resnet --seconds 0.000001 --format json
grep -q '^  "exact": false,' "$work/out" && grep -q '^  "bound": null' "$work/out"
result $? "and claims nothing of what it did not plan" "$(grep '"exact"\|"bound"' "$work/out")"
# Control-C: SIGINT is signal 2, bit 2 of the signals that the program catches.
"$PODBENCH" search mlperf-v1.0-closed-ipu-pod16-bert-large --jobs 1 >"$work/out" 2>"$work/err" </dev/null &
searching=$!
until grep -q '^SigCgt:.*[2367abef]$' "/proc/$searching/status" 2>/dev/null || ! kill -0 "$searching" 2>/dev/null; do sleep 0.1; done
kill -INT "$searching"
wait "$searching"
status=$?
gives 0 'podbench: search: interrupted; the best so far follows' "an interrupted search prints the best so far"
refuses "--seconds: 'soon' is not a number from 0 up" "a time that is no number" search $resnet --seconds soon
run search --help
tr -s ' \n' '  ' <"$work/out" >"$work/one-line" && mv "$work/one-line" "$work/out"
gives 0 'default 1000000' "help and code agree on the most simulations"
grep -q 'USUAL_MOST = 1000000,' harness/search.c
result $? "as the code has it"
done_testing
