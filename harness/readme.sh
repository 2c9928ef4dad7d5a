#!/bin/sh
# readme.sh PROGRAM PAGE [--check] - writes the table of MLPerf runs between a page's markers, out of a fresh simulation: "closed" has
# the closed division in the vendor's own frameworks, samples a second alone; "all" has every run with its times to train. The marker "power" has
# the rows of power and energy. With --check:
# whether the page is current (0) or not (1); nothing is changed.
set -eu
export LC_ALL=C
program=$1 page=$2
table=$(mktemp)
new=$(mktemp)
trap 'rm -f "$table" "$new"' EXIT
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
function rows(which,    line, c, n, i, order, role, speed, steady, score, all) {
    while ((getline line < table) > 0) {
        split(line, c, ",")
        if (c[1] == c[2] ".throughput") { order[++n] = c[2]; role[c[2]] = c[4]; speed[c[2]] = cells(line) }
        if (c[1] == c[2] ".steady") steady[c[2]] = cells(line)
        if (c[1] == c[2] ".score") score[c[2]] = cells(line) " | " whole(line)
    }
    close(table)
    all = which == "all"
    print "| MLPerf Training run | role | samples/s | simulated | difference |" (all ? " minutes to train | simulated | difference | samples predicted too | difference |" : "")
    print "|---|---|---:|---:|---:|" (all ? "---:|---:|---:|---:|---:|" : "")
    for (i = 1; i <= n; i++)
        if (all || (order[i] ~ /-closed-/ && order[i] ~ /(bert-large|resnet50)$/)) {
            printf "| %s | %s | %s |%s\n", substr(order[i], 8), role[order[i]], speed[order[i]],
                   all ? " " (order[i] in score ? score[order[i]] : "- | - | - | - | -") " |" : ""
            if (order[i] in steady)
                printf "| in steady state | %s | %s |%s\n", role[order[i]], steady[order[i]], all ? " - | - | - | - | - |" : ""
        }
}
function power(    line, c) {
    print "| row | role | measured | predicted | difference |\n|---|---|---:|---:|---:|"
    while ((getline line < table) > 0) {
        split(line, c, ",")
        if (line ~ /,power,$/ && c[8] != "") {
            printf "| `%s` | %s | %.4g %s | %.4g %s | %+.1f %% |\n", c[1], c[4], c[7], unit(c[3]), c[8], unit(c[3]), 100 * c[9]
        }
    }
    close(table)
}
function unit(metric) { return metric ~ /_w$/ ? "W" : "J" }
/^<!-- power -->/ { print; power(); inside = 1; next }
/^<!-- reproduced: / { print; rows($0 ~ /all/ ? "all" : "closed"); inside = 1; next }
/^<!-- end -->/ { inside = 0 }
!inside { print }' "$page" >"$new"
if [ "${3:-}" = --check ]; then
    cmp -s "$new" "$page"
else
    cat "$new" >"$page"
fi
