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
function cells(line,    c) {
    split(line, c, ",")
    return number(c[7]) " | " (c[8] == "" ? "- | -" : number(c[8]) " | " sprintf("%+.1f %%", 100 * c[9]))
}
function whole(line,    c) {
    split(line, c, ",")
    return c[12] == "" ? "- | -" : number(c[12]) " | " sprintf("%+.1f %%", 100 * c[13])
}
function rows(    line, c, n, i, order, role, speed, score) {
    while ((getline line < table) > 0) {
        split(line, c, ",")
        if (c[1] == c[2] ".throughput") { order[++n] = c[2]; role[c[2]] = c[4]; speed[c[2]] = cells(line) }
        if (c[1] == c[2] ".score") score[c[2]] = cells(line) " | " whole(line)
    }
    for (i = 1; i <= n; i++)
        printf "| %s | %s | %s | %s |\n", substr(order[i], 8), role[order[i]], speed[order[i]],
               order[i] in score ? score[order[i]] : "- | - | - | - | -"
}
/^<!-- reproduced -->/ {
    print
    print "| MLPerf Training run | role | samples/s | simulated | difference | minutes to train | simulated | difference | samples predicted too | difference |"
    print "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    rows()
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
