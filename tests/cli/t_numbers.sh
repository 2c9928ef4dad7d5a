#!/bin/sh
# docs/maintainers/numerics.md has every statement on numbers that was tried, with the value, the range and the verdict that make numbers wrote.
. tests/tap.sh
table=results/published/claims/numbers.csv
missing=
rows=0
while IFS=, read -r id value low high holds _; do
    [ "$id" = id ] && continue
    rows=$((rows + 1))
    [ "$holds" = yes ] && verdict=yes || verdict='\*\*no\*\*'
    grep -q "^| \`$id\` | .* | $low to $high | $value | $verdict |$" docs/maintainers/numerics.md || missing="$missing $id"
done <$table
[ "$rows" -gt 10 ] && [ -z "$missing" ]
result $? "the page has all statements" "missing:$missing"
[ "$(grep -c '^| `' docs/maintainers/numerics.md)" -eq "$rows" ]
result $? "and no other"
done_testing
