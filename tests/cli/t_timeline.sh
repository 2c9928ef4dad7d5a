#!/bin/sh
# podbench timeline: text with a picture, CSV, traces; and --unfolded, which prints the same bytes.
. tests/tap.sh
recipe=vendor-ipu-pod16-resnet50-pipelined
few="--set parallel.gradient_accumulation=9 --set framework.accumulation_multiple=0"

run timeline $recipe $few
gives 0 "AA" "text begins with a picture in letters"
[ "$(grep -c '^  ipu [0-3] ' "$work/out")" -eq 4 ]
result $? "a line of it for each chip of a replica"
run timeline $recipe $few --format csv
[ "$status" -eq 0 ] && awk -F, 'NR == 1 { columns = NF; next } NF != columns || $7 + 0 < 0 || $10 + 0 < $9 + 0 { bad = 1 }
    $4 == "backward" { n++ } END { exit bad || n != 36 }' "$work/out"
result $? "CSV: one row per span, 9 micro-batches backward on 4 chips" "$(head -3 "$work/out")"
run timeline $recipe $few --unfolded --format csv
[ "$status" -eq 0 ] && [ "$(cut -d, -f1,2 "$work/out" | sort -u | wc -l)" -eq 17 ]
result $? "--unfolded: 16 chips"

run timeline $recipe $few --trace "$work/trace.json"
sum=$(perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); my %last; my $bad = 0;
    for my $e (sort { $a->{ts} <=> $b->{ts} } grep { $_->{ph} eq "X" } @{$o->{traceEvents}}) {
        my $k = "$e->{pid} $e->{tid}"; $bad++ if $e->{ts} < ($last{$k} // 0) - 1e-4; $last{$k} = $e->{ts} + $e->{dur}; }
    print scalar(keys %last), " chips, $bad overlaps, $o->{otherData}{workload}"' <"$work/trace.json")
[ "$sum" = "4 chips, 0 overlaps, resnet50" ]
result $? "trace: JSON, four tracks, no two slices of one overlap" "$sum"
rm -f "$work/trace.json"
# One file for both would lose one of them.
for trace in /dev/stdout "$work/out"; do
    "$PODBENCH" timeline $recipe --trace "$trace" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q "^podbench: --trace $trace: is standard output" "$work/err"
    result $? "a trace to where the text goes is refused: $trace" "$(cat "$work/err")"
done
"$PODBENCH" timeline $recipe --trace /dev/stdout 2>"$work/err" | grep -q . || grep -q "is standard output" "$work/err"
result $? "and to the pipe that the text goes to" "$(cat "$work/err")"
on_terminal="/dev/tty /dev/stdout /dev/null"
script -qec true /dev/null </dev/null >/dev/null 2>&1 || { echo "# skipped: no script(1) here: a trace to the terminal"; on_terminal=; }
for trace in $on_terminal; do
    script -qec "'$PODBENCH' timeline $recipe --trace $trace; echo status \$?" /dev/null </dev/null >"$work/out"
    if [ $trace = /dev/null ]; then grep -q "status 0" "$work/out"; else
        [ "$(wc -l <"$work/out")" -eq 2 ] && grep -q "^podbench: --trace $trace: is standard output" "$work/out" && grep -q "status 2" "$work/out"; fi
    result $? "on a terminal, to $trace" "$(head -c 600 "$work/out")"
done
run timeline $recipe --set parallel.gradient_accumulation=1000000 --trace "$work/trace.json"
gives 2 "events, at most 5000000; lower parallel.gradient_accumulation" "a trace that no viewer opens is refused"
[ ! -e "$work/trace.json" ] && [ -z "$(ls "$work" | grep trace)" ]
result $? "and leaves no file"

for r in $recipe mlperf-v1.1-closed-ipu-pod128-bert-large mlperf-v1.1-closed-ipu-pod16-resnet50; do
    # The shares of fitted and assumed values are found by simulating again, many times; not unfolded.
    "$PODBENCH" run $r --format json | grep -v _share >"$work/folded"
    "$PODBENCH" run $r --unfolded --check --format json | grep -v _share >"$work/unfolded"
    [ -s "$work/folded" ] && cmp -s "$work/folded" "$work/unfolded"
    result $? "run $r --unfolded prints the same bytes" "$(diff "$work/folded" "$work/unfolded" | head -4)"
done
run run $recipe --set 'faults.chip1=13 1.5' --format json
cost=$(perl -MJSON::PP -e 'local $/; print decode_json(<STDIN>)->[0]{fault_cost_s} > 0.01 ? "yes" : "no"' <"$work/out")
[ "$cost" = yes ]
result $? "a slow chip's cost stands in the result"
done_testing
