#!/bin/sh
# README's table of what is reproduced is what the program says now; 'make readme' refreshes it. Its files exist.
. tests/tap.sh
stale=$(perl harness/readme.pl "$PODBENCH" README.md docs/*.md docs/maintainers/*.md --check)
result $? "the numbers of README and docs that the program writes are current (make readme)" "$stale"
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
sed -n 's/^ *X(\([A-Z_]*\),.*/\1/p' system-model/base/assumed.h | sort >"$work/in_code"
sed -n '/^<!-- assumed -->/,/^<!-- end -->/s/^| `\([A-Z_]*\)`.*/\1/p' docs/maintainers/trust.md | sort >"$work/in_page"
missing=$(diff "$work/in_code" "$work/in_page")
result $? "the table of assumed numbers has those of the code (make assumed)" "$missing"
done_testing
