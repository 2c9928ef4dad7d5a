# sample_words.pl SEED FILE...: 60 comments and 30 messages of refusals, drawn at random by the seed, each with its file and line, to be read by
# somebody who has not seen the code. What needs a second reading is written again, and with it all of the same pattern.
use strict;
use warnings;
my $seed = shift;
my (@comments, @messages);
for my $path (@ARGV) {
    open my $file, '<', $path or die "$path: $!";
    local $/;
    my $text = <$file>;
    while ($text =~ m{(?<call>\b(?:fail|fail_at|fail_of|refuse|onnx_refuse)\((?:[^"();]|\([^()]*\))*)?(?<text>"(?:[^"\\\n]|\\.)*"(?:(?:\s|PRI\w+)*"(?:[^"\\\n]|\\.)*")*)|'(?:[^'\\\n]|\\.)+'|(?<comment>/\*.*?\*/|//[^\n]*)}sg) {
        my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
        if (defined $+{comment}) {
            my $comment = $+{comment};
            $comment =~ s{^/[*/]+\s*|\s*\*/$}{}g;
            $comment =~ s/\n\s*\*? ?/ /g;
            push @comments, "$path:$line: $comment" if $comment =~ /\w \w/ && $comment !~ /SPDX|^----/;
        } elsif (defined $+{call}) {
            push @messages, "$path:$line: " . $+{text} =~ s/"\s*(?:PRI(\w)\w*)?\s*"/defined $1 ? $1 : ''/ger;
        }
    }
}
# drawn(COUNT, LIST): members of the list without repetition, by a generator of its own, as perl's differs between builds.
sub drawn {
    my ($count, @left) = @_;
    my @taken;
    while (@left && @taken < $count) {
        $seed = ($seed * 1103515245 + 12345) % 2147483648;
        push @taken, splice @left, int($seed / 65536) % @left, 1;
    }
    return @taken;
}
print scalar(@comments), " comments, ", scalar(@messages), " messages\n";
print "$_\n" for drawn(60, @comments), '', drawn(30, @messages);
