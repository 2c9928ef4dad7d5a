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
result $? "CSV: a row a span, 9 micro-batches backward on 4 chips" "$(head -3 "$work/out")"
run timeline $recipe $few --unfolded --format csv
[ "$status" -eq 0 ] && [ "$(cut -d, -f1,2 "$work/out" | sort -u | wc -l)" -eq 17 ]
result $? "--unfolded: 16 chips"

run timeline $recipe $few --trace "$work/trace.json"
sum=$(perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); my %us;
    $us{"$_->{pid} $_->{tid}"} += $_->{dur} for grep { $_->{ph} eq "X" } @{$o->{traceEvents}};
    my ($end) = map { $_->{ts} } grep { $_->{name} eq "end of step" } @{$o->{traceEvents}};
    print join " ", map { abs($us{$_} - $end) < 0.01 ? "whole" : "$_: $us{$_} of $end" } sort keys %us' <"$work/trace.json")
[ "$sum" = "whole whole whole whole" ]
result $? "trace: JSON, and each chip's events fill the step" "$sum"
rm -f "$work/trace.json"
run timeline $recipe --set parallel.gradient_accumulation=1000000 --trace "$work/trace.json"
gives 2 "events, at most 5000000; lower parallel.gradient_accumulation" "a trace that no viewer opens is refused"
[ ! -e "$work/trace.json" ] && [ -z "$(ls "$work" | grep trace)" ]
result $? "and leaves no file"

for r in $recipe mlperf-v1.1-closed-ipu-pod128-bert-large mlperf-v1.1-closed-ipu-pod16-resnet50; do
    "$PODBENCH" run $r --format json >"$work/folded" && "$PODBENCH" run $r --unfolded --check --format json >"$work/unfolded" &&
        cmp -s "$work/folded" "$work/unfolded"
    result $? "run $r --unfolded prints the same bytes" "$(diff "$work/folded" "$work/unfolded" | head -4)"
done
run run $recipe --set 'faults.chip1=13 1.5' --format json
cost=$(perl -MJSON::PP -e 'local $/; print decode_json(<STDIN>)->{fault_cost_s} > 0.01 ? "yes" : "no"' <"$work/out")
[ "$cost" = yes ]
result $? "a slow chip's cost stands in the result"
done_testing
