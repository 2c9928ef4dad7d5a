#!/bin/sh
# readme.sh PROGRAM README [--check] - writes the table of what is reproduced between README's markers, out of the
# last run; with --check says whether it is current (0) or not (1) and changes nothing.
set -eu
export LC_ALL=C
program=$1 readme=$2
table=$(mktemp)
page=$(mktemp)
trap 'rm -f "$table" "$page"' EXIT
"$program" check --format csv >"$table" || [ $? -eq 1 ]
awk -F, -v table="$table" '
function number(x) { return x >= 1000 ? sprintf("%.0f", x) : sprintf("%.4g", x) }
function rows(metric,    line, c, cell) {
    while ((getline line < table) > 0) {
        split(line, cell, ",")
        if (cell[3] == metric && cell[2] ~ /^mlperf-/ && cell[8] != "" && cell[4] != "context")
            printf "| %s | %s | %s | %s | %+.1f %% |\n", substr(cell[2], 8), cell[4], number(cell[7]), number(cell[8]), 100 * cell[9]
    }
    close(table)
}
/^<!-- reproduced -->/ {
    print
    print "| MLPerf Training run | role | minutes, published | simulated | difference |\n|---|---|---:|---:|---:|"
    rows("time_to_train_min")
    print "\n| MLPerf Training run | role | samples/s, published | simulated | difference |\n|---|---|---:|---:|---:|"
    rows("throughput_samples_per_s")
    inside = 1
    next
}
/^<!-- end -->/ { inside = 0 }
!inside { print }' "$readme" >"$page"
if [ "${3:-}" = --check ]; then
    cmp -s "$page" "$readme"
else
    cat "$page" >"$readme"
fi
