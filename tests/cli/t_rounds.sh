#!/bin/sh
# podbench rounds: the table of a tree of results, its cache, its page, and what it refuses.
. tests/tap.sh
export XDG_CACHE_HOME="$work/cache"

run run mlperf-v2.0-closed-bow-pod16-bert-large mlperf-v2.0-closed-bow-pod64-bert-large --mllog "$work/tree" --draw-until-valid
result "$status" "two simulated submissions" "$(cat "$work/err")"
run rounds "$work/tree" --format csv
gives 0 ",closed,podbench-simulated," "their rows"
cp "$work/out" "$work/first"
[ "$(find "$work/cache/podbench/rounds" -name '*.csv' | wc -l)" -eq 2 ]
result $? "each row is cached"
run rounds "$work/tree" --format csv --jobs 1
cmp -s "$work/first" "$work/out"
result $? "the cached table is the same to the byte"
XDG_CACHE_HOME=$work/first/is/a/file run rounds "$work/tree" --format csv
cmp -s "$work/first" "$work/out"
result $? "and so is one without a cache"
run rounds "$work/tree"
gives 0 "samples_to_target" "as text"
run rounds "$work/tree" --format json
gives 0 '"scaling_efficiency": ' "as JSON"
run rounds "$work/tree" --out "$work/page.html"
[ "$status" -eq 0 ] && grep -q '<title>MLPerf Training results' "$work/page.html" && ! grep -qE 'src=|https?://[^w]' "$work/page.html"
result $? "the page needs no other file" "$(cat "$work/err")"
if command -v chromium >/dev/null 2>&1; then
    timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run \
        --user-data-dir="$work/browser" --dump-dom "file://$work/page.html" >"$work/dom" 2>/dev/null
    [ "$(grep -o 'class="dot closed"' "$work/dom" | wc -l)" -eq 4 ] && grep -q 'aria-sort="ascending"' "$work/dom" && grep -q 'class="reference"' "$work/dom" &&
        grep -q '2 results of 1 submitter\.' "$work/dom"
    result $? "the page draws both results twice, the reference points and the rows" "$(grep -o '<main>.*' "$work/dom" | head -c 300)"
else
    result 0 "the page draws # SKIP no chromium here"
fi
for format in text json csv junit; do
    run lint "$work/tree" --jobs 1 --format $format
    cp "$work/out" "$work/one"
    run lint "$work/tree" --jobs 7 --format $format
    cmp -s "$work/one" "$work/out"
    result $? "lint: threads change nothing in $format"
done
logs=$(find "$work/tree" -name bert | head -1)
cp -r "$logs" "$logs.podbench-1f2e3d4c.old"
run rounds "$work/tree" --format csv
cmp -s "$work/first" "$work/out" && grep -q "bert.podbench-1f2e3d4c.old: is not finished: its writer is at work, or was killed: not read$" "$work/err"
result $? "what a killed writer left is told, and not read" "$(cat "$work/err")"
rm -r "$logs.podbench-1f2e3d4c.old"
refuses "no such folder" "a folder that is not there" rounds "$work/none"
mkdir "$work/empty"
refuses "no result_N.txt in it or below it" "a folder without logs" rounds "$work/empty"
run rounds "$work/tree" "$work/tree/podbench-simulated" --format csv
cmp -s "$work/first" "$work/out"
result $? "a folder within another one is read once"
refuses "name it once" "a folder that is named twice" rounds "$work/tree" "$work/tree/."

# ---- the example of docs/mlperf.md
sed -n '/^An example from start to end/,/judge predictions.csv/s/^    //p' docs/mlperf.md >"$work/example"
mkdir "$work/bin" "$work/there"
printf '#!/bin/sh\nexec "%s" "$@" --root "%s"\n' "$(realpath "$PODBENCH")" "$PWD" >"$work/bin/podbench"
chmod +x "$work/bin/podbench"
(cd "$work/there" && PATH=$work/bin:$PATH sh -e ../example) >"$work/out" 2>"$work/err"
status=$?
gives 0 "1 of 1 predictions are scored; they cover 1 of 1 results." "the documented example runs from start to end"

# ---- predictions, from start to end: the table, podbench's own predictions of it, the same judged from their file
run rounds "$work/tree" --format csv
cp "$work/out" "$work/results.csv"
run judge podbench "$work/results.csv" --out "$work/own.csv" --format csv
gives 0 ",samples/s," "podbench predicts results that a recipe describes"
cp "$work/out" "$work/judged"
[ "$(head -1 "$work/own.csv")" = "round,division,submitter,system,benchmark,global_batch,samples_per_s,minutes,low,high,use,guess" ] && [ "$(wc -l <"$work/own.csv")" -eq 5 ]
result $? "its predictions are a file of predictions" "$(cat "$work/own.csv")"
run judge "$work/own.csv" "$work/tree" --format csv
sed -E -i 's/(\.[0-9]{9})[0-9]+/\1/g' "$work/judged" "$work/out"        # tables have ten digits
cmp -s "$work/judged" "$work/out"
result $? "which is judged alike, also by the logs themselves" "$(diff "$work/judged" "$work/out" | head -4)"
run judge "$work/own.csv" "$work/results.csv"
gives 0 "4 of 4 predictions are scored; they cover 2 of 2 results." "as text"
run judge convergence "$work/results.csv"
gives 0 "knows nothing of" "the convergence model with one submitter left out"
sed 's/podbench-simulated/somebody/' "$work/own.csv" >"$work/others.csv"
run judge "$work/others.csv" "$work/results.csv"
gives 1 "not among the results" "predictions of other results are not scored"
refuses "no closed result is of" "no accelerator of the roofline" judge roofline "$work/results.csv"
refuses "no column 'use'" "a table that is no file of predictions" judge "$work/results.csv" "$work/results.csv"
done_testing
