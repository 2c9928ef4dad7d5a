#!/bin/sh
# How far answers can be trusted, why they are what they are, why two differ: as a user sees them.
. tests/tap.sh

resnet=mlperf-v1.1-closed-ipu-pod16-resnet50
json() { # CODE - Perl on the decoded output, $o; true: good
    perl -MJSON::PP -MList::Util=sum -e 'local $/; my $o = decode_json(<STDIN>); $o = $o->[0] if ref $o eq "ARRAY" && @$o == 1; exit !('"$1"')' <"$work/out"
}

# ---- validity, energy, money
run run $resnet --format json
json '$o->{validity}{interval_low} < $o->{validity}{expected} && $o->{validity}{expected} < $o->{validity}{interval_high}
    && $o->{validity}{nearest}[0]{configuration} eq "'$resnet'" && $o->{validity}{nearest}[0]{distance} == 0
    && @{$o->{validity}{extrapolates}} == 0 && $o->{validity}{near}'
result $? "a published run is near itself" "$(grep -A40 '"validity"' "$work/out")"
json 'abs($o->{validity}{from_fitted_share} + $o->{validity}{from_assumed_share} + $o->{validity}{from_sourced_share} - 1) < 1e-9'
result $? "shares of fitted, assumed and sourced values are the whole"
json '$o->{energy}{modelled} && $o->{energy}{per_step_j} > 0 && $o->{energy}{source} && $o->{energy}{file} =~ /gc200.csv$/ && !defined $o->{money}{per_step}
    && $o->{money}{missing}'
result $? "energy has its source; money that is not known says why" "$(grep -A12 '"energy"' "$work/out")"
run list metrics --format json
json '@$o > 40 && !grep { !length $_->{help} || !length $_->{group} } @$o'
result $? "every metric has its group and help"
run run $resnet --set machine.board_power_w= --set machine.tdp_w= --set machine.idle_power_w=
gives 0 'energy: not known: no source gives the power of this board or of its chip' "missing power is said"
run run $resnet --set cost.price_per_hour=36
gives 0 'to train' "money where a price is given"
run run prediction-bow-pod16-vit-b16
gives 0 'A GUESS, as no published run is of this kind: 90 % interval' "nothing near is said plainly"
run run $resnet --set machine.clock_hz=1.4e9
gives 0 'trust: no interval, as no published run has machine.clock_hz=1.4e9; where' "a changed sheet value is outside everything published"
readings() { sed -n 's/^trust: \([^)]*)\).*/\1/p; /^  open: /p' "$work/out"; }
run run $resnet --set open.precision.partials=fp32
folded=$(readings)
run run $resnet --set open.precision.partials=fp32 --unfolded
[ "$(readings)" = "$folded" ] && echo "$folded" | grep -q "with fp32 [0-9.]* % slower"
result $? "readings are simulated where every replica is" "$(readings)"
run run mlperf-v2.0-closed-bow-pod64-bert-large --set data.sequence_length=1 --format json
json 'abs($o->{validity}{from_fitted_share} + $o->{validity}{from_assumed_share} + $o->{validity}{from_sourced_share} - 1) < 1e-9
    && $o->{validity}{from_fitted_share} > 0.2 && $o->{validity}{from_assumed_share} > 0.4'
result $? "shares are the whole, where most is fitted or assumed" "$(grep -A40 '"validity"' "$work/out" | grep _share)"

# ---- assumptions: every row of every sheet whose source begins so, every number of the header, and nothing else
# The sheets with few recipes, as each value is halved and doubled in all that read it.
mkdir -p "$work/few/workloads" "$work/few/results"
ln -s "$PWD/system-model" "$work/few/" && ln -s "$PWD"/results/* "$work/few/results/" && ln -s "$PWD"/workloads/* "$work/few/workloads/"
rm "$work/few/workloads/recipes" "$work/few/results/validity" && cp -r results/validity "$work/few/results/" && rm "$work/few/results/validity/tables.csv" && ln -s "$PWD/tests/root/workloads/recipes" "$work/few/workloads/"
run list assumptions --root "$work/few" --format json
sheets=$(cat system-model/specs/*.csv system-model/specs/*/*.csv | grep -cE '^[^,]*,("[^"]*"|[^,"]*),[^,]*,"?assumed')
code=$(grep -cE '^ +X\([A-Z]' system-model/base/assumed.h)
json 'do { my %seen; my @sheets = grep { $_->{line} } @$o; @sheets == '"$sheets"' && @$o - @sheets == '"$code"' && !grep { $seen{"$_->{file}:" . ($_->{line} || $_->{key})}++ } @$o }'
result $? "every assumption of a sheet and of the code is listed, once" "want $sheets on sheets, $code in code; $(cat "$work/err")"

# ---- tables and sheets that are broken
rm "$work/few/system-model" && cp -r system-model "$work/few/"
sed -i '$d' "$work/few/results/validity/left-out.csv"
refuses "left-out.csv: $(($(wc -l <results/validity/left-out.csv) - 2)) lines, but $(($(wc -l <results/validity/left-out.csv) - 1))" "a table that was cut between two lines" run $resnet --root "$work/few"
sed -i 's/^n_tiles,[0-9]*/n_tiles,x/' "$work/few/system-model/specs/gc200.csv"
run list recipes --root "$work/few"
gives 2 "of these recipes cannot be simulated, the first, mlperf-v1.0-closed-ipu-pod16-bert-large: " "list recipes: a sheet that cannot be read"

# ---- no published run had a fault that cost it time
run run mlperf-v2.0-closed-bow-pod16-resnet50 --set 'faults.chip=3 1.5'
gives 0 'trust: no interval, as no published run has faults;' "a slow chip is foreign"
run run mlperf-v2.0-closed-bow-pod16-resnet50 --set 'faults.chip=3 1'
gives 0 'trust: 90 % interval' "one that is not slow is not"

# ---- a recipe with the values of a published one knows that it ran, whatever its name
sed 's/^id = .*/id = other/' workloads/recipes/mlperf-v2.0-closed-bow-pod16-bert-large.ini >"$work/other.ini"
run run "$work/other.ini"
gives 0 'fits: yes (it ran; by its bytes alone' "a published configuration under another name"
run run "$work/other.ini" --set parallel.gradient_accumulation=100
! grep -q 'it ran' "$work/out"
result $? "with another value it is another one" "$(sed -n 2p "$work/out")"

# ---- samples to converge were counted with the recipe's own optimizer and rows
run run mlperf-v2.0-closed-bow-pod16-bert-large --set optimizer.name=sgd --set data.sequence_length=512
gives 0 'counted with another optimizer.name, and no change of convergence is modelled' "a time to train with another optimizer"
run run mlperf-v2.0-closed-bow-pod16-bert-large --set data.sequence_length=512 --format json
json '!grep { /convergence/ } @{$o->{notes}}'
result $? "and none where nothing of it is changed"

# ---- a published figure that the interval leaves out is named, with what it measures
run run mlperf-v1.1-closed-ipu-pod128-resnet50
gives 0 "outside the interval: 178050 samples/s (throughput): images of the whole calls of an epoch" "a published rate outside the interval is told, with its note"
[ "$(grep -c 'outside the interval' "$work/out")" -eq 1 ]
result $? "and no other" "$(cat "$work/out")"
run run mlperf-v1.1-closed-ipu-pod128-resnet50 --set parallel.micro_batch=19
! grep -q 'outside the interval' "$work/out"
result $? "nor is one of a changed recipe"

# ---- explain
run explain $resnet
[ "$status" -eq 0 ] && [ "$(wc -l <"$work/out")" -le 62 ] && sed -n 2p "$work/out" | grep -q '^bound by compute: conv'
result $? "explain: one screen, the conclusion first" "$(wc -l <"$work/out"; head -3 "$work/out")"
grep -q '(system-model/specs/[a-z0-9-]*\.csv:[0-9]*)' "$work/out"
result $? "explain: inputs are traced to the sheet's line"
run explain vendor-c600-bert-base-sl128-b16-poprt --format json
json '(sub { my $f = shift; my $c = shift; !@{$c->{parts}} || sum(map { $_->{ipu_cycles} } @{$c->{parts}}) == $c->{ipu_cycles} && !grep { !$f->($f, $_) } @{$c->{parts}} })->(
    sub { my ($f, $c) = @_; !@{$c->{parts}} || sum(map { $_->{ipu_cycles} } @{$c->{parts}}) == $c->{ipu_cycles} && !grep { !$f->($f, $_) } @{$c->{parts}} }, $o->{costs})
    && @{$o->{moves}} > 40 && $o->{validity}{interval_high} > 0'
result $? "explain: every cost is the sum of its parts" "$(head -30 "$work/out")"
run explain vendor-c600-resnet50-b1-poprt --format csv
[ "$(head -1 "$work/out")" = name,from_s,to_s,from_ipu_cycles,to_ipu_cycles ] && tail -1 "$work/out" | grep -q '^predicted,0,'
result $? "explain: the way from the ideal to the predicted, as CSV"
refuses 'no recipe' "explain: an unknown recipe" explain no-such

# ---- diff
# A value of a sheet that changes nothing here is told: on one IPU no link carries anything, and 1.5e9 is what the sheet has.
run run vendor-c600-resnet50-b1-poprt --set machine.link_bytes_per_s=1e9 --set machine.clock_hz=1.6e9 --set machine.n_links=3 --format csv
gives 0 "podbench: vendor-c600-resnet50-b1-poprt: no effect here: machine.link_bytes_per_s, machine.n_links" "values of sheets without effect are told"
for command in explain plan timeline; do
    run $command vendor-c600-resnet50-b1-poprt --set machine.link_bytes_per_s=1e9 --set machine.tile_memory_bytes=700000
    gives 0 "podbench: vendor-c600-resnet50-b1-poprt: no effect here: machine.link_bytes_per_s" "and by $command"
    ! grep -q tile_memory "$work/err"
    result $? "but memory that is left free has one" "$(cat "$work/err")"
done
run run vendor-c600-resnet50-b1-poprt --set machine.clock_hz=1.5e9 --set machine.board_power_w=190
gives 0 "no effect here: machine.clock_hz" "a value that is the sheet's own has none"
! grep -q board_power_w "$work/err"
result $? "what changes the energy alone has one" "$(cat "$work/err")"
run diff $resnet $resnet --set parallel.gradient_accumulation=7 --set a:machine.clock_hz=2e9 --format json
json '@{$o->{causes}} == 2 && $o->{causes}[0]{cause} eq "parallel.gradient_accumulation 10 -> 7" && $o->{causes}[1]{cause} eq "machine.clock_hz 2e9 -> 1.325e9"
    && sum(map { $_->{step_time_ps} } @{$o->{causes}}) + $o->{rest}{step_time_ps} == $o->{difference}{step_time_ps}'
result $? "diff: --set for either side; causes add up" "$(cat "$work/err"; head -40 "$work/out")"
mkdir "$work/root" && cp -r system-model workloads results "$work/root"
sed -i 's/^clock_hz,1.85e9/clock_hz,1.9e9/' "$work/root/system-model/specs/bow.csv"
run run mlperf-v2.0-closed-bow-pod16-resnet50 --root "$work/root" --format csv
gives 0 'no interval: no published run has machine.clock_hz=1.9e9' "a sheet edited in place is as foreign as a value that is set"
both="mlperf-v2.0-closed-bow-pod16-resnet50 $resnet"
"$PODBENCH" run $both --format csv >"$work/a.csv" && "$PODBENCH" run $both --root "$work/root" --format csv >"$work/b.csv"
run diff $resnet $resnet --set b:machine.clock_hz=2e9
[ "$(tail -1 "$work/out")" = "b has no interval: no published run has machine.clock_hz=2e9" ]
result $? "diff: a side without an interval says so" "$(tail -2 "$work/out"; cat "$work/err")"
run diff "$work/a.csv" "$work/b.csv"
gives 0 '1 of 2 recipes take another time' "diff: of two runs' rows"
[ ! -s "$work/err" ]
result $? "of which both have all" "$(cat "$work/err")"
grep -q '^ *-[0-9.]* ms  conv  ' "$work/out"
result $? "diff: a run's step by what it is spent on" "$(cat "$work/out")"
grep -v ",bow-pod16," "$work/b.csv" >"$work/c.csv"
for order in "b c" "c b"; do
    run diff "$work/${order% *}.csv" "$work/${order#* }.csv"
    gives 0 "podbench: 1 recipe only in $work/b.csv: mlperf-v2.0-closed-bow-pod16-resnet50" "diff: rows of only one run are listed: $order"
done
mkdir "$work/recipes" && cp workloads/recipes/vendor-c600-resnet50-b1-poprt.ini "$work/recipes/"
"$PODBENCH" bench --recipes "$work/recipes" --out "$work/a.initial" >/dev/null 2>&1
run diff "$work/a.initial" "$work/a.initial"
gives 0 '0 of 1 recipes take another time' "diff: of a run's folder of such a name"
echo >>"$work/a.initial/check.csv"
refuses "a.initial/check.csv: is not the file that manifest.json lists" "diff: of a run that is not whole" diff "$work/a.initial" "$work/a.initial"
sed -i 's/"files": {/"files": { }, "none": {/' "$work/a.initial/manifest.json"
refuses "a.initial/manifest.json: lists no files with their hashes" "diff: of a run whose manifest lists no file" diff "$work/a.initial" "$work/a.initial"
done_testing
