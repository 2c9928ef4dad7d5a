#!/bin/sh
# Runs of every recipe: bench, compare, check, validate, plot, report.
. tests/tap.sh
recipe=mlperf-v1.1-closed-ipu-pod16-resnet50

run bench --out "$work/one" --jobs 1
[ "$status" -eq 0 ] && [ -s "$work/one/rows.csv" ] && [ -s "$work/one/check.csv" ] && [ -s "$work/one/manifest.json" ]
result $? "bench writes rows, check and manifest" "$(cat "$work/err")"
[ "$(($(wc -l <"$work/one/rows.csv") - 1))" -eq "$("$PODBENCH" list recipes --names | wc -l)" ]
result $? "bench: one row a recipe"
mv "$work/out" "$work/first"
PODBENCH_MEMO=off LC_ALL=C.UTF-8 TZ=Asia/Seoul "$PODBENCH" bench --out "$work/two" --jobs 3 >"$work/second" 2>/dev/null
diff -r "$work/one" "$work/two" >/dev/null && cmp -s "$work/first" "$work/second"
result $? "bench: two runs are equal to the byte, whatever the number of threads, and where no plan is remembered"
run compare "$work/one" "$work/two"
gives 0 'the same' "compare of equal runs: 0"
sed -i '2s/,[0-9.]*,/,99,/' "$work/two/rows.csv"
run compare "$work/one/rows.csv" "$work/two/rows.csv"
gives 1 '-> 99' "compare of runs that differ: 1, and the change"
sed 's/$/\r/' "$work/one/rows.csv" >"$work/crlf.csv"
run compare "$work/one/rows.csv" "$work/crlf.csv"
gives 0 "$work/crlf.csv has CRLF line ends and $work/one/rows.csv has LF" "compare of tables says when only line ends differ"
run check "$work/one" --format json
perl -MJSON::PP -e 'local $/; my $a = decode_json(<STDIN>); @$a or exit 1;
    for my $o (@$a) { exists $o->{$_} or exit 1 for qw(id recipe metric role published simulated error pass) }' <"$work/out"
result $? "check --format json: every member in every row"
perl -MJSON::PP -e 'local $/; my %seen; for my $o (@{decode_json(<STDIN>)}) { defined $o->{predicted} or next;
    $o->{metric} eq "time_to_train_min" && !$seen{$o->{recipe}}++ && abs($o->{predicted} / $o->{published} - 1 - $o->{predicted_error}) < 1e-9 or exit 1 }
    exit(keys %seen < 25)' <"$work/out"
result $? "check --format json: every MLPerf time to train once with predicted samples too"
run check "$work/one" --format tap
[ "$(head -1 "$work/out")" = "1..$(grep -cE '^(not )?ok ' "$work/out")" ]
result $? "check --format tap: the plan is kept"
expected=0
grep -q '^not ok' "$work/out" && expected=1
run check "$work/one"
[ "$status" -eq "$expected" ]
result $? "check: status 1 when a calibrate or validate row is out of tolerance, else 0"
# A folder of recipes of one's own lacks those of published rows: they wait, and what is derived from them is left out, both aloud.
mkdir -p "$work/recipes"
cp "workloads/recipes/$recipe.ini" "$work/recipes/"
run bench --recipes "$work/recipes" --out "$work/own"
[ "$status" -eq 0 ] && [ "$(wc -l <"$work/own/rows.csv")" -eq 2 ] && grep -q 'derived rows left out; .*: no recipe' "$work/err" && grep -q 'no recipe yet' "$work/out"
result $? "bench --recipes: derived rows without a recipe are left out aloud" "$(cat "$work/err")"
run check "$work/own"
grep -q 'derived rows left out; .*: no recipe' "$work/err"
result $? "check of that run says so too"
refuses "no such run" "check of a run that is not there" check bananas
mkdir "$work/none"
run bench --recipes "$work/none" --out "$work/own"
[ "$status" -eq 2 ] && grep -q "$work/none: holds no recipe; want files that end in .ini" "$work/err" && [ "$(wc -l <"$work/own/rows.csv")" -eq 2 ]
result $? "bench of a folder without recipes is refused, and the run stays" "$(cat "$work/err")"
mkdir "$work/broken" && echo '[recipe]' >"$work/broken/x.ini"
run bench --recipes "$work/broken" --out /proc/nowhere
gives 2 "podbench: /proc/nowhere: cannot be made: No such file or directory; name a folder that may be written to: --out DIR" \
    "bench: where nothing can be written nothing is simulated"
refuses "want --recipes too" "bench: figures of no recipes of one's own are refused" bench --published "$work/none" --out "$work/own"
refuses "table.csv: want a folder of tables" "bench: a table that it would not read is refused" \
    bench --recipes "$work/recipes" --published "$work/table.csv" --out "$work/own"

run validate "$work/one" --format json
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); ref $o->{constants} eq "ARRAY" or exit 1; for my $r (qw(calibrate validate)) {
    exists $o->{$r}{$_} or exit 1 for qw(rows mean_abs_error median_abs_error max_abs_error bias) }
    for my $m (qw(time_to_train_published_samples time_to_train_predicted_samples)) { $o->{$m}{calibrate}{rows} == 10 or exit 1 }
    my %e = map { ($_->{evidence} => $_) } @{$o->{memory}{verdicts}};
    $e{validate}{ran} && $e{validate}{ran_predicted_to_fit} <= $e{validate}{ran} && @{$o->{memory}{edges}} && @{$o->{memory}{bytes}} or exit 1;
    my %n = map { ($_->{of} => $_) } @{$o->{coverage}};
    exit !($n{closed}{runs} + $n{open}{runs} == $n{all}{runs} && $n{all}{samples_inside} <= $n{all}{runs} &&
        $n{calibrate}{time_inside} + $n{validate}{time_inside} == $n{all}{time_inside})' <"$work/out"
result $? "validate --format json"
run plot "$work/one"
[ "$status" -eq 0 ] && [ "$(find "$work/one/figures" -name '*.svg' -size +4k | wc -l)" -eq $((2 * $(ls plots/*.gp | grep -vc style))) ] &&
    [ "$(find "$work/one/figures" -name '*.png' -size +4k | wc -l)" -eq "$(ls plots/*.gp | grep -vc style)" ]
result $? "plot: two SVGs and a PNG a script" "$(cat "$work/err")"
# Samples of a chip and micro-batch, and the most accumulation that is tried: 20 of one chip, 3 x 2.0368 of eight.
# BERT is too large for 16 chips without the state of 64 to share.
for sweep in 'resnet50,20,16, 16 64 128 256 1024' 'bert-large,0.7638,384, 64 128 256 1024'; do
    w=${sweep%%,*}
    # chips,gradient accumulation,global batch,minutes,low,high,samples,chip hours
    awk -F, -v sweep="$sweep" 'BEGIN { split(sweep, of, ",") }
        NR > 1 { sizes = sizes " " $1; d = $3 / ($1 * $2) / of[2] - 1; if (of[3] % $2 || d > 1e-6 || d < -1e-6) exit 1 }
        NR > 1 { d = $8 - $1 * $4 / 60; if (d > 1e-4 || d < -1e-4 || $4 < $5 || $4 > $6 || (NR > 2 && ($4 > t || $8 < h))) exit 1; t = $4; h = $8 }
        END { exit sizes != of[4] }' "$work/one/figures/more-chips-$w.csv"
    result $? "plot: $w on more chips takes less time and more chip hours" "$(cat "$work/one/figures/more-chips-$w.csv")"
done
refuses "$work/one: is not a regular file" "a run beside a recipe" diff "$work/one" mlperf-v1.1-closed-ipu-pod16-resnet50
for command in plot report; do
    refuses "$work/no-figures: No such file or directory" "$command of figures that are not there" $command "$work/one" --published "$work/no-figures"
done
run report "$work/one"
[ "$status" -eq 0 ] && grep -q '</html>' "$work/one/report.html" && grep -q '<svg' "$work/one/report.html" &&
    ! grep -qE '(src|href)="http' "$work/one/report.html"
result $? "report: one page, figures inside"
mkdir "$work/empty"
refuses "empty: holds no recipe; want files that end in .ini" "no recipes" bench --recipes "$work/empty" --out "$work/of-none"
[ ! -e "$work/of-none" ]
result $? "and no folder is made for them"
done_testing
