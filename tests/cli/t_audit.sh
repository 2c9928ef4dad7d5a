#!/bin/sh
# podbench audit: every claim has a verdict, the formats agree, and the page in docs/ names the same claims.
. tests/tap.sh
PODBENCH=${PODBENCH:-build/podbench}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$PODBENCH" audit >"$work/text" 2>"$work/err" && "$PODBENCH" audit --format csv >"$work/csv" 2>>"$work/err" &&
    "$PODBENCH" audit --format json >"$work/json" 2>>"$work/err" && "$PODBENCH" audit --format markdown >"$work/md" 2>>"$work/err"
result $? "audit in four formats" "$(cat "$work/err")"

perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); my %n; $n{$_->{verdict}}++ for @{$o->{audit}};
    for (keys %{$o->{verdicts}}) { ($n{$_} // 0) == $o->{verdicts}{$_} or exit 1 }
    for (@{$o->{audit}}) { my $none = !defined $_->{found} && !defined $_->{found_as_read}; ($_->{verdict} eq "cannot be checked here") == $none or exit 1;
        $_->{note} eq "" and $none and exit 1 }
    exit !($o->{claims} == @{$o->{audit}})' <"$work/json"
result $? "counts are those of the claims; what cannot be checked says why" "$(head -3 "$work/text")"

fails=$(grep -c ',does not hold,' "$work/csv")
[ "$fails" -eq "$(grep -c '^C[0-9]*  does not hold' "$work/text")" ] && [ "$(sed -n '/^## Does not hold/,/^## Holds/p' "$work/md" | grep -c '^| C')" -eq "$fails" ]
result $? "a line for each claim that does not hold, in text and in Markdown" "$fails"

ids() { sed -n 's/^| \(C[0-9]*\) |.*/\1/p' "$1" | sort; }
[ "$(ids "$work/md")" = "$(ids docs/maintainers/audit.md)" ]
result $? "docs/maintainers/audit.md has every claim (make readme)" "$(ids docs/maintainers/audit.md | wc -l)"
done_testing
