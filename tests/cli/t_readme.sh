#!/bin/sh
# README's table of what is reproduced is what the program says now; 'make readme' refreshes it. Its files exist.
. tests/tap.sh
sh harness/readme.sh "$PODBENCH" README.md --check && sh harness/readme.sh "$PODBENCH" docs/reproduced.md --check && sh harness/readme.sh "$PODBENCH" docs/maintainers/trust.md --check
result $? "the tables of README and docs/reproduced.md are current (make readme)"
"$PODBENCH" list metrics --format markdown | cmp -s - docs/formats.md
result $? "docs/formats.md is current (make readme)"
missing=
for f in $(grep -o '](\([^)h][^)]*\))' README.md | tr -d '()]'); do [ -e "${f%%#*}" ] || missing="$missing $f"; done
[ -z "$missing" ]
result $? "README's pictures and links exist" "$missing"
missing=
for c in $(sed -n 's/^build\/podbench \([a-z]*\).*/\1/p' README.md); do "$PODBENCH" "$c" --help >/dev/null 2>&1 || missing="$missing $c"; done
[ -z "$missing" ]
result $? "README's commands exist" "$missing"
done_testing
