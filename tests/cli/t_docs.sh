#!/bin/sh
# What the contributors' pages name is there: files and folders, functions, commands, make targets; and every room has its line.
. tests/tap.sh

pages='README.md CONTRIBUTING.md docs/architecture.md'
missing=
for name in $(sed -n 's/`/\n/gp' $pages | grep -E '^[A-Za-z.][A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*$' | grep -v '^build/\|^results/runs\|/ID\.ini$' | sort -u); do
    [ -e "$name" ] || missing="$missing $name"
done
[ -z "$missing" ]
result $? "every file and folder that is named exists" "missing:$missing"

missing=
for name in $(grep -ohE '`[a-z_0-9]+\(\)`' $pages | tr -d '`()' | sort -u); do
    grep -qE "[ *]$name\(" $(find system-model workloads results harness -name '*.c') || missing="$missing $name"
done
[ -z "$missing" ]
result $? "every function that is named exists" "missing:$missing"

missing=
for name in $(grep -ohE 'podbench [a-z][a-z-]+' $pages | sed 's/podbench //' | sort -u); do
    "$PODBENCH" --help | grep -qE "^  $name " && continue
    case $name in is|predicts) ;; *) missing="$missing $name" ;; esac
done
[ -z "$missing" ]
result $? "every command that is named exists" "missing:$missing"

names=$(grep -ohE '^make [a-z -]+|`make [a-z -]+' $pages | sed 's/^`*make //; s/#.*//' | sort -u)
# shellcheck disable=SC2086
[ -n "$names" ] && make -n $names >/dev/null 2>"$work/err"
result $? "every make target that is named exists" "$(cat "$work/err")"

missing=
for room in $(find system-model workloads results harness -name '*.c' -exec dirname {} + | sort -u); do
    grep -q "^| \`$room\` |" docs/architecture.md || missing="$missing $room"
done
[ -z "$missing" ]
result $? "every room has its line in docs/architecture.md" "missing:$missing"

# Commands, options, keys, operators and metrics that somebody adds get a page and a test.
missing=
for name in $("$PODBENCH" --help | awk '/^  [a-z]/ { print $1 }'); do
    grep -q "podbench $name\b" README.md docs/*.md docs/maintainers/*.md || missing="$missing $name"
done
[ -z "$missing" ]
result $? "every command has a page" "missing: $missing"

missing=
for name in $("$PODBENCH" --help | awk '/^  [a-z]/ { print $1 }'); do
    grep -qE "(PODBENCH\"?|run|gives|again|show|refuses \".*\" \".*\"|[|'\"]) $name\b|\"$name\"" tests/cli/*.sh || missing="$missing $name"
done
# The words of all tests are collected once: four hundred names are looked for among them. Golden texts are what lists print, and try nothing.
find tests -path tests/golden -prune -o \( -name '*.[ch]' -o -name '*.sh' -o -name '*.txt' -o -name '*.ini' \) -exec cat {} + | grep -aoE '[A-Za-z0-9_]+' | sort -u >"$work/words"
for name in $("$PODBENCH" list keys --names) $("$PODBENCH" list operators --format csv | sed '1d; s/,.*//'); do echo "${name#*.}"; done >"$work/names"
missing="$missing $(grep -vxFf "$work/words" "$work/names")"
[ -z "${missing# }" ]
result $? "every command, key and operator is in a test" "missing: $missing"

missing=
for name in $(sed -n 's/^OPTION(.*, "\([a-z-]*\)", .*/\1/p' harness/options.def); do
    grep -qE -e "[ \"']--$name\b" tests/cli/*.sh tests/harness/*.c || missing="$missing --$name"
done
for name in $(sed -n 's/^    \(METHOD\|KIND\)(\([A-Z_]*\),.*/\1_\2/p' system-model/network/collective.h | sed 's/^KIND/COLLECTIVE/'); do
    grep -qw "$name" tests/network/*.c || missing="$missing $name"
done
[ -z "$missing" ]
result $? "every option, and every method and kind of a collective, is in a test" "missing: $missing"

missing=
for name in $(sed -n 's/^METRIC([A-Z]*, \([a-z_0-9]*\),.*/\1/p' results/simulate/podbench_metrics.def); do
    grep -qE "(->|\.)$name( |\[| *=)[^=]" results/simulate/*.c results/study/*.c harness/*.c || missing="$missing $name"
done
[ -z "$missing" ]
result $? "every metric is assigned" "missing: $missing"

missing=$(find system-model workloads results harness tests -name '*.[ch]' -exec grep -L '^/\* SPDX-License-Identifier: GPL-3.0-or-later \*/$' {} +)
[ -z "$missing" ]
result $? "every C file begins with its licence" "missing: $missing"
# A percentage of a user page is written by the program, or its paragraph names a command and the date; else it is a rule that the program goes by.
bare=$(perl -00 -ne '
    BEGIN { %rules = map { $_ => 1 } "90 %", "5 % of the step", "by 5 %", "by 1 %", "tolerance is 25 %", "is 10 %)", "is 5 % longer" }
    if ($ARGV ne $page) { ($page, $before) = ($ARGV, "") }
    my ($goes_on, $text) = (scalar(/^(\||- )/), $_);        # a table or list belongs to the paragraph before
    my $named = $goes_on ? "$before$text" : $text;
    $before = $text unless $goes_on;
    next if $text =~ /^```/ || $named =~ /`[^`]+`/ && $named =~ /\b\d{1,2} (January|February|March|April|May|June|July|August|September|October|November|December)\b/;
    s/<!-- (?!end)[a-z]+.*?<!-- end -->//s, s/<!--=.*?<!--\/-->//g, s/`[^`]*`//g for $text;
    for my $rule (keys %rules) { $text =~ s/\b\Q$rule\E//g }
    print " $ARGV: $1;" while $text =~ /((?:\S+ ){0,3}[\d.]+ ?%)/g;
' README.md docs/*.md)
[ -z "$bare" ]
result $? "a percentage of a page is the program's, or has its command and date" "$bare"

done_testing
