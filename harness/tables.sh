#!/bin/sh
# tables.sh [ROOT] - writes results/validity/tables.csv: how many lines and bytes each table of the data has, by which the program notices a table that
# was cut.
set -eu
export LC_ALL=C
cd "${1:-.}"
list=results/validity/tables.csv
tables=$(find system-model/specs workloads results -name '*.csv' ! -path 'results/runs/*' ! -path $list | sort)
sizes=$(wc -lc $tables | awk '$3 != "total" { print $3 "," $1 "," $2 }')
write() { printf '%s\n' path,lines,bytes "$list,$(($(echo "$tables" | wc -l) + 2)),$1" "$sizes"; }
write "$(write 0000 | wc -c)" >"$list.new"
mv "$list.new" $list
