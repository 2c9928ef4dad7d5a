#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A configuration unlike everything published is called a guess by every command and in every format that tells its speed.
. tests/tap.sh
alone=prediction-ipu-pod16-rnnt known=mlperf-v2.0-closed-bow-pod16-bert-large
says() { # NAME COMMAND... - the answer has the word; where JSON is asked for, as its member
    what=$1; shift
    run "$@"
    grep -qi 'a guess\|"guess": *true\|_guess": true\|,yes,\|,yes$' "$work/out"
    result $? "$what" "$(head -c 2000 "$work/out"; cat "$work/err")"
}
silent() { what=$1; shift; run "$@"; ! grep -qi 'a guess\|guess": *true' "$work/out"; result $? "$what" "$(cat "$work/out")"; }

for format in text csv json; do
    says "run, $format" run $alone --format $format
    says "explain, $format" explain $alone --format $format
    says "sweep, $format" sweep $alone --over parallel.gradient_accumulation=16,32 --format $format
done
says "run, two recipes" run $alone $known
says "ask, text" ask rnnt on ipu-pod16 --most 5 --out "$work/asked.ini"
says "ask, json" ask rnnt on ipu-pod16 --most 5 --out "$work/asked-too.ini" --format json
for format in text json; do
    says "search, $format" search $alone --most 5 --format $format
    says "diff, $format" diff $alone $known --format $format
done
run search $alone --most 300
gives 0 "predicted, not tested; no published run is near, so that no pair of them tells how sure it is" "search: pairs of published runs say nothing of the gain"
says "kernel, text" kernel workloads/recipes/graphs/gru-1024.onnx
says "kernel, csv" kernel workloads/recipes/graphs/gru-1024.onnx --format csv
says "kernel, json" kernel workloads/recipes/graphs/gru-1024.onnx --format json

# A project of such a recipe: a measurement, and the page of a run.
"$PODBENCH" init "$work/mine" >/dev/null 2>&1
cp "workloads/recipes/$alone.ini" "$work/mine/recipes/my-run.ini"
sed -i 's/^id = .*/id = my-run/' "$work/mine/recipes/my-run.ini"
home=$PWD program=$(realpath "$PODBENCH")
(cd "$work/mine" && PODBENCH_ROOT=$home "$program" measured recipes/my-run.ini --step 1s) >"$work/out" 2>"$work/err"
grep -q 'a guess' "$work/out"
result $? "measured: what was predicted before" "$(cat "$work/out" "$work/err")"
"$PODBENCH" bench --recipes "$work/mine/recipes" --out "$work/one" >/dev/null 2>"$work/err"
guesses=$(python3 -c 'import csv,sys; print([row["guess"] for row in csv.DictReader(open(sys.argv[1]))])' "$work/one/rows.csv" 2>&1)
[ "$guesses" = "['yes']" ]
result $? "bench: the row of a run" "$guesses"
"$PODBENCH" report "$work/one" >/dev/null 2>>"$work/err"
grep -q 'A GUESS' "$work/one/report.html"
result $? "report: the card of a run" "$(cat "$work/err")"

# A gnuplot that draws at once: the findings are the program's.
mkdir "$work/bin" && printf '#!/bin/sh\necho "<svg/>"\n' >"$work/bin/gnuplot" && chmod +x "$work/bin/gnuplot"
PATH=$work/bin:$PATH "$PODBENCH" plot "$work/one" >/dev/null 2>>"$work/err"
grep -q '^map,.* of [0-9]* a guess: no published run is near' "$work/one/figures/findings.csv" && grep -q '^waterfall,.*(1 of 1 a guess' "$work/one/figures/findings.csv"
result $? "plot: the finding of a figure" "$(cat "$work/one/figures/findings.csv")"
"$PODBENCH" run $alone --runs 2 --mllog "$work/logs" >/dev/null 2>"$work/err"
grep -q 'podbench_note.*the interval is a guess' "$work"/logs/*/results/*/*/result_0.txt
result $? "run: logs of drawn runs" "$(cat "$work/err")"
for format in text csv json; do
    says "rounds, $format" rounds "$work/logs" --format $format
done

silent "run: a published configuration is none" run $known
silent "run: nor in JSON" run $known --format json
silent "kernel: nor a product of GC2" kernel workloads/recipes/graphs/gather-rows.onnx --set data.batch=0 --set data.rows=1024 --set data.width=64 --set data.lookups=2048
done_testing
