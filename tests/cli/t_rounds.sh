#!/bin/sh
# podbench rounds: the table of a tree of results, its cache, its page, and what it refuses.
. tests/tap.sh
export XDG_CACHE_HOME="$work/cache"

run run mlperf-v2.0-closed-bow-pod16-bert-large mlperf-v2.0-closed-bow-pod64-bert-large --mllog "$work/tree" --draw-until-valid
result "$status" "two simulated submissions" "$(cat "$work/err")"
run rounds "$work/tree" --format csv
gives 0 ",closed,podbench-simulated," "their rows"
cp "$work/out" "$work/first"
[ "$(find "$work/cache/podbench/rounds" -name '*.json' | wc -l)" -eq 2 ]
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
refuses "no such folder" "a folder that is not there" rounds "$work/none"
mkdir "$work/empty"
refuses "no result_N.txt in it or below it" "a folder without logs" rounds "$work/empty"
refuses "name it once" "a folder that is named twice" rounds "$work/tree" "$work/tree/."
done_testing
