#!/bin/sh
# The words of the sources: comments are plain English, and each name of the product leads to one place.
. tests/tap.sh

product='system-model workloads results harness'
cat >"$work/comments.pl" <<'EOF'
# comments.pl PATTERN FILE...: the comments that match, each with its file and line. Texts in quotes are no comments.
use strict;
use warnings;
my $pattern = shift;
for my $path (@ARGV) {
    open my $file, '<', $path or die "$path: $!";
    local $/;
    my $text = <$file>;
    while ($text =~ m{"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|(/\*.*?\*/|//[^\n]*)}sg) {
        next unless defined $1;
        my ($comment, $line) = ($1, 1 + (substr($text, 0, $-[1]) =~ tr/\n//));
        $comment =~ s{^/[*/]+\s*|\s*\*/$}{}g;
        $comment =~ s/\n\s*\*? ?/ /g;
        print "$path:$line: $comment\n" if $comment =~ /$pattern/;
    }
}
EOF
sources=$(find $product tests -name '*.[ch]' | sort)
# shellcheck disable=SC2086
wrong=$(perl "$work/comments.pl" '(^|[.:;] )Of |^of ' $sources)
[ -z "$wrong" ]
result $? "no comment has a sentence that begins with 'Of'" "$wrong"
# shellcheck disable=SC2086
wrong=$(perl "$work/comments.pl" '(?i)^(whether|what|where)\b' $sources)
[ -z "$wrong" ]
result $? "no comment begins with 'Whether', 'What' or 'Where'" "$wrong"
# shellcheck disable=SC2086
wrong=$(perl "$work/comments.pl" '(?i)\b(keeper|shelf|crew|aloud|whoever|likewise|beside|stands? once)\b' $sources)
[ -z "$wrong" ]
result $? "comments use the field's words" "$wrong"

cat >"$work/names.pl" <<'EOF'
# names.pl FILE...: the functions, tags and enumerators of files that have several definitions.
use strict;
use warnings;
my %places;
for my $path (@ARGV) {
    open my $file, '<', $path or die "$path: $!";
    local $/;
    my $text = <$file>;
    my $place = sub { "$path:" . (1 + (substr($text, 0, $_[1]) =~ tr/\n//)) };
    $text =~ s{("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')|/\*.*?\*/}{$1 // ' '}sge;
    push @{$places{"$1()"}}, $path while $text =~ /^[a-z_](?:[\w *]*[ *])(\w+)\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*\{/mg;
    push @{$places{"$1 $2"}}, $path while $text =~ /^\s*(?:static |const |typedef )*(struct|enum|union) (\w+)\s*\{/mg;
    while ($text =~ /^(?:static |const )*enum(?: \w+)?\s*\{([^}]*)\}/mg) {
        push @{$places{$_}}, $path for map { /^\s*(\w+)/ ? $1 : () } split /,(?![^(]*\))/, $1;
    }
}
for my $name (sort keys %places) {
    print "$name: @{$places{$name}}\n" if @{$places{$name}} > 1;
}
print scalar(keys %places), " names\n";
EOF
# shellcheck disable=SC2046,SC2086
names=$(perl "$work/names.pl" $(find $product -name '*.[ch]' | sort))
wrong=$(echo "$names" | sed '$d')
[ -z "$wrong" ]
result $? "each function, tag and enumerator of the product has one definition" "$wrong"
n_names=$(echo "$names" | sed -n '$s/ names//p')
[ "$n_names" -gt 4000 ]
result $? "the search finds the names of the product" "$n_names"
done_testing
