#!/bin/sh
# MLPerf in and out: a simulated submission is written, scored and linted, and all three say the same; real-looking logs in odd shapes.
. tests/tap.sh

out=$work/submission
run run mlperf-v1.1-closed-ipu-pod16-bert-large --runs 10 --seed 3 --mllog "$out" --format json
result "$status" "run --mllog writes a submission" "$(cat "$work/err")"
json=$(cat "$work/out")
drawn=$(printf '%s' "$json" | grep -o '"score_minutes": *[0-9.]*' | head -1 | sed 's/.*: *//')
run score "$out" --format csv
scored=$(tail -1 "$work/out" | cut -d, -f9)
awk -v a="$drawn" -v b="$scored" 'BEGIN { d = a - b; exit !(a > 0 && d < 0.0001 && d > -0.0001) }'
result $? "score agrees with run to a ten-thousandth of a minute" "run says $drawn, score says $scored"
[ "$(tail -1 "$work/out" | cut -d, -f3)" = podbench-simulated ]
result $? "the organisation says that it is simulated" "$(tail -1 "$work/out")"
run lint "$out"
gives 0 "pass: closed bert: 10 of 10 logs pass (v1.1)" "lint accepts it, by the round that its logs name"
run lint "$out" --ruleset 1.0.0
gives 0 "pass: closed bert: 10 of 10 logs pass (v1.0)" "lint accepts it by the rules of 1.0.0"
run lint "$out" --ruleset 1.0.0 --only-failures
[ "$(wc -l <"$work/out")" = 1 ]
result $? "lint --only-failures prints only the counts when everything passes"
run lint "$out" --ruleset v2.0
gives 1 "1 unknown or listed twice: cls/predictions/decoder/kernel" "and not by those of 2.0.0"
[ "$(find "$out" -name 'result_*.txt' | wc -l)" -eq 10 ]
result $? "as many logs as the rules ask for"
[ "$(grep -h '"key": "seed"' "$out"/*/results/*/*/result_*.txt | sed 's/.*"value": //; s/,.*//' | sort -u | wc -l)" -eq 10 ]
result $? "every log has a seed of its own"
[ "$(grep -c '": "' "$out"/podbench-simulated/systems/mlperf-v1.1-closed-ipu-pod16-bert-large-simulated.json)" -eq 33 ]
result $? "the system description has its 33 fields"
log=$(find "$out" -name result_0.txt)
mkdir -p "$work/hpc_results_v3.0" "$work/v2.0"
cp "$log" "$work/hpc_results_v3.0/result_0.txt"
cp "$log" "$work/v2.0/result_0.txt"
run lint "$work/hpc_results_v3.0/result_0.txt"
gives 1 'submission_benchmark: is "bert", must be one of deepcam, cosmoflow, oc20 or openfold (hpc-3.0.0 closed_common)' "a log among those of MLPerf HPC is judged by its rules"
run lint --ruleset 1.1.0 "$work/v2.0/result_0.txt"
gives 0 "result_0.txt: judged as v1.1, though the path says v2.0" "a ruleset that the path contradicts is said, also for one log"
for format in text csv json tap; do
    run lint --ruleset 1.1.0 "$work/v2.0" --format $format
    gives 1 "judged as v1.1, though the path says v2.0" "and in $format for a folder"
done
cp "$out"/podbench-simulated/systems/*.json "$out/podbench-simulated/systems/other.json"
run lint "$out"
gives 0 "podbench-simulated/systems/other.json: review: describes a system without results" "a description without results is noted for review"
run lint "$out" --format csv
gives 0 ",systems,,review,," "and in CSV"
rm "$out/podbench-simulated/systems/other.json"

cp -r "$out" "$work/again"
refuses "replace them by --force" "logs that are there are not overwritten" \
    run mlperf-v1.1-closed-ipu-pod16-bert-large --runs 10 --seed 3 --mllog "$work/again"
run run mlperf-v1.1-closed-ipu-pod16-bert-large --runs 10 --seed 3 --mllog "$work/again" --force
diff -r "$out" "$work/again" >"$work/diff"
result $? "the same seed writes the same bytes" "$(head -c 400 "$work/diff")"
run run mlperf-v1.1-closed-ipu-pod16-bert-large --runs 4 --seed 3 --mllog "$work/again" --force
[ "$(find "$work/again" -name 'result_*.txt' | wc -l)" -eq 4 ]
result $? "a shorter submission leaves no log of the longer one"
run run mlperf-v2.0-closed-bow-pod16-bert-large mlperf-v2.0-closed-bow-pod16-bert-large-paddle mlperf-v1.0-open-ipu-pod16-bert-large \
    --mllog "$work/both" --draw-until-valid
gives 0 "drawn until one was valid" "several recipes and divisions in one folder"
run lint "$work/both"
gives 0 "3 of 3 folders pass, 30 of 30 logs pass; 0 errors" "and each passes as a package"
run run mlperf-v2.0-closed-bow-pod16-bert-large --mllog ""
gives 2 "name is empty" "a folder without a name"

# ---- the batch: two sequences a pack in the log, 2.0368 in truth; the round and division of the recipe
[ "$(grep -h '"global_batch_size"' "$out"/*/results/*/*/result_0.txt | sed 's/.*"value": //; s/,.*//')" = 3072 ]
result $? "the log states the batch as submissions do"
grep -h '"train_samples"' "$out"/*/results/*/*/result_*.txt | sed 's/.*"value": //; s/[,.].*//' | sort >"$work/logged"
printf '%s' "$json" | grep -o '"samples": *[0-9]*' | sed 's/.*: *//' | sort >"$work/drawn"
cmp -s "$work/logged" "$work/drawn"
result $? "each log has the samples that run drew" "$(paste "$work/logged" "$work/drawn" | head -3)"

# ---- every benchmark: ten runs with seed 7, written, scored, linted
while read -r recipe benchmark division; do
    out7=$work/seed7-$benchmark
    run run "$recipe" --runs 10 --seed 7 --mllog "$out7" --draw-until-valid --format json
    drawn=$(grep -o '"score_minutes": *[0-9.]*' "$work/out" | sed 's/.*: *//')
    converged=$(grep -c '"converged": true' "$work/out")
    run score "$out7" --format csv
    scored=$(tail -1 "$work/out" | cut -d, -f9)
    awk -v a="$drawn" -v b="$scored" 'BEGIN { d = a - b; exit !(a > 0 && d < 0.0001 && d > -0.0001) }'
    result $? "$benchmark: score agrees with run" "run says $drawn, score says $scored"
    [ "$(tail -1 "$work/out" | cut -d, -f6,7)" = "10,$((10 - converged))" ]
    result $? "$benchmark: score counts the runs that did not converge" "$(tail -1 "$work/out")"
    run lint "$out7"
    grep -q "$division $benchmark: $converged of 10 logs pass" "$work/out"
    result $? "$benchmark: lint agrees with run" "$(tail -3 "$work/out")"
done <<EOF
mlperf-v2.0-closed-bow-pod16-bert-large bert closed
mlperf-v2.0-closed-bow-pod64-resnet50 resnet closed
mlperf-v2.0-open-bow-pod64-transformer-transducer rnnt open
EOF

# ---- logs beside their recipe, which is found by itself: a simulated submission agrees with its own simulation
run compare-logs "$out" --format csv
gives 0 "recipe,quantity,unit,published" "compare-logs finds the recipe of a folder of logs"
awk -F, '$7 == "step" { d = $12 / $9 - 1; n++; if (d > 0.01 || d < -0.01) bad = 1 } END { exit bad || n != 1 }' "$work/out"
result $? "compare-logs: a step of the logs is the simulated step" "$(grep ',step,' "$work/out")"
run compare-logs "$work/none"
gives 2 "no such folder" "compare-logs: no such folder"
sed -i 's/"ipu-pod16-simulated"/"elsewhere"/' "$out"/*/results/*/*/result_*.txt
cp -r "$out"/podbench-simulated/results/*/bert "$work/bert"
run compare-logs "$work/bert"
gives 1 "name one by --recipe" "compare-logs: logs of no known recipe"
run compare-logs "$work/bert" --recipe mlperf-v1.1-closed-ipu-pod16-bert-large
gives 0 "the mean run takes" "compare-logs: the recipe named"

sed 's/"key": "submission_status"/"key": "no_status"/' -i "$work"/bert/result_*.txt
run compare-logs "$work/bert" --recipe mlperf-v1.1-closed-ipu-pod16-bert-large
gives 1 "no log converged and complies" "compare-logs: logs of which none counts"

# ---- one bad log of ten is allowed, two are not
logs=$(echo "$out"/*/results/*/*)
sed -i '/"key": "seed"/!s/"key": "opt_lamb_beta_1"/"key": "opt_lamb_beta_9"/' "$logs/result_2.txt"
run lint "$out"
gives 0 "result_2.txt: error: opt_lamb_beta_1: is not logged, want it exactly once (1.1.0 closed_bert)" "one log may fail"
cp "$logs/result_2.txt" "$logs/result_5.txt"
run lint "$out"
gives 1 "fail: closed bert: 8 of 10 logs pass" "two may not"
gives 1 "seeds: fail: result_2.txt and result_5.txt have one seed (line 10 and line 10)" "a seed used twice"
run score "$out"
gives 1 "2 of 10 runs are refused, at most 1 may be" "no score, and why"

# ---- odd shapes
odd=$work/$(printf 'caf\351')
cp -r "$logs" "$odd"
for command in score lint; do
    run "$command" "$odd" --format json
    perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); $o = $o->{groups} if ref $o eq "HASH";
        exit !(@$o == 1 && ($o->[0]{system} // $o->[0]{folder}) =~ /caf\x{e9}/)' <"$work/out"
    result $? "$command: a folder's name in Latin-1 is whole in json" "$(head -c 300 "$work/out")"
done
mkdir -p "$work/odd"
for i in 0 1 2 3 4 5 6 7 8 9; do
    sed "s/^/rank0:caf$(printf '\351') /; s/\$/$(printf '\r')/" "$logs/result_1.txt" | head -c -2 >"$work/odd/result_$i.txt"
done
run score "$work/odd" --format csv
gives 0 "podbench-simulated" "text before the token, Latin-1, CRLF and no last newline"
{ echo; head -c 30000000 /dev/zero | tr '\0' 'x'; } >>"$work/odd/result_3.txt"
run score "$work/odd" --format csv
gives 0 "bert,10,0,10," "a line of 30 MB without the token is passed over"

run run mlperf-v2.0-closed-bow-pod256-bert-large --mllog "$work/refused"
gives 0 "the logs are written, but v2.0 refuses them: mean 3490560 samples to converge, at least 3533003.66 passes" "a submission that its round refuses is announced"

echo text >"$work/odd/result_0.txt"
run lint "$work/odd/result_0.txt" --ruleset 2.0.0
gives 1 "result_0.txt: error: has no :::MLLOG line" "a file that is no log"
[ "$(grep -c error: "$work/out")" -eq 1 ]
result $? "and nothing else is said of it" "$(cat "$work/out")"
tac "$logs/result_1.txt" >"$work/odd/result_1.txt"
run lint "$work/odd/result_1.txt"
gives 1 "error: run_stop: must come after run_start" "a log in the wrong order"
run lint "$work/odd/result_0.txt" --ruleset 2.0.0 --only-failures
! grep -qE 'warning:|review:' "$work/out" && grep -q 'error:' "$work/out"
result $? "lint --only-failures prints errors alone"
! grep -qw nan "$work/out"
result $? "no times before they are known" "$(grep -w nan "$work/out")"

mkdir -p "$work/tree/v2.0/closed/Org/box/bert" && mkfifo "$work/tree/v2.0/closed/Org/box/bert/result_0.txt"
ln -s .. "$work/tree/v2.0/up"
run lint "$work/tree"
gives 2 "no result_N.txt" "a tree of a pipe and a link to itself"
grep -q "up: is a symbolic link: not followed" "$work/err" && grep -q "result_0.txt: is a pipe: not read" "$work/err"
result $? "what is passed over is said" "$(cat "$work/err")"
cp "$logs/result_0.txt" "$work/odd" && truncate -s 300M "$work/odd/result_1.txt"
run lint "$work/odd" --ruleset 2.0.0
gives 1 "odd: fail: result_1.txt: 314572800 bytes, more than" "a log that is too large is named once"
rm -r "$work/odd"

# On a terminal, from the third second on; each folder is made slow.
if script -qec true /dev/null </dev/null >/dev/null 2>&1 && strace -qq -e trace=write -o /dev/null true 2>/dev/null; then
    mkdir -p "$work/slow/a" "$work/slow/b" "$work/slow/c" "$work/slow/d" "$work/slow/e"
    delay='strace -qq -o /dev/null -e trace=getdents64 -e inject=getdents64:delay_enter=300000'
    TERM=xterm script -qec "$delay '$PODBENCH' score '$work/slow'" /dev/null </dev/null | tr '\r' '\n' >"$work/terminal"
    grep -q '^podbench: folders looked through for logs: 6 ' "$work/terminal" && ! grep -q 'looked through for logs: 1 ' "$work/terminal"
    result $? "folders are counted on a terminal" "$(cat "$work/terminal")"
else
    result 0 "folders are counted on a terminal # SKIP no script(1), or strace cannot trace here"
fi
refuses "device, pipe or socket" "lint: a device" lint /dev/zero --ruleset 2.0.0
refuses "no such folder" "score: no such folder" score "$work/none"
refuses "no result_N.txt" "score: nothing there" score "$work/again/podbench-simulated/systems"
refuses "known: v0.7, v1.0, v1.1, v2.0" "lint: unknown ruleset" lint "$out" --ruleset 9.9
refuses "no such file or folder" "lint: no such file" lint "$work/none"
done_testing
