#!/usr/bin/perl
# assumed.pl - what the assumed numbers that stand in code do: each is halved (rounded down) and doubled, a flag turned, and every recipe is
# simulated by a program built so. Prints the rows of a table of docs/trust.md: the largest changes of the step time and of the fullest tile's
# memory, and the recipe that moves most. How many recipes begin or cease to fit is told beside them, on standard error.
#
# usage: assumed.pl BUILD COMPILER [NAME]...
use strict;
use warnings;
use File::Path qw(make_path);
$| = 1;

my ($build, $compiler, @only) = @ARGV;
my ($header, @groups) = ("system-model/base/assumed.h", "bert-large", "resnet50", "others");
my $varied = "$build/varied";
make_path("$varied/system-model/base");

sub text_of { open my $f, "<", $_[0] or die "$_[0]: $!\n"; local $/; <$f> }

# The recipes' rows, by name, of a program with this header.
sub rows_with {
    my ($text) = @_;
    open my $f, ">", "$varied/$header" or die "$header: $!\n";
    print $f $text;
    close $f;
    system("make -j2 B=$build CC='$compiler -I$varied' CFLAGS=-O2 $build/podbench >$build/log 2>&1") == 0 or die text_of("$build/log");
    system("$build/podbench bench --out $build/run >$build/log 2>&1") == 0 or die text_of("$build/log");
    my ($head, @lines) = map { [split /,/] } split /\n/, text_of("$build/run/rows.csv");    # what is read here stands before the first quoted cell
    my %rows;
    for my $line (@lines) {
        my %row;
        @row{@$head} = @$line;
        $rows{ $row{id} } = \%row;
    }
    return \%rows;
}

sub percent { my ($change) = @_; $change ? sprintf("%+.2f", $change) : "0" }

sub percents {
    my ($low, $high) = @_;
    return "nothing" unless $low || $high;
    return "0.00 %" if sprintf("%.2f%.2f", -$low, $high) eq "0.000.00";
    return percent($low) . " to " . percent($high) . " %";
}

my $text = text_of($header);
my $base = rows_with($text);
while ($text =~ /^ +X\((\w+), (\d+), "(\w+)"/mg) {
    my ($name, $value, $unit) = ($1, $2, $3);
    next if @only && !grep { $_ eq $name } @only;
    my (%low, %high, $most);
    my ($largest, $refits) = (0, 0);
    for my $to ($unit eq "flag" ? 1 - $value : (int($value / 2), 2 * $value)) {
        (my $other = $text) =~ s/X\($name, \d+/X($name, $to/;
        my $rows = rows_with($other);
        for my $id (sort keys %$base) {
            my ($was, $is) = ($base->{$id}, $rows->{$id});
            my $group = $was->{workload} eq "bert-large" || $was->{workload} eq "resnet50" ? $was->{workload} : "others";
            my $by = 100 * ($is->{step_time_s} / $was->{step_time_s} - 1);
            my $bytes = 100 * ($is->{memory_peak_bytes_per_tile} / $was->{memory_peak_bytes_per_tile} - 1);
            ($largest, $most) = (abs $by, $id) if abs $by > $largest;
            for (["memory", $bytes], [$group, $by]) {
                my ($of, $change) = @$_;
                $low{$of} = $change if $change < ($low{$of} || 0);
                $high{$of} = $change if $change > ($high{$of} || 0);
            }
            $refits++ if $was->{fits} ne $is->{fits};
        }
    }
    print join(" | ", "| `$name`", map({ percents($low{$_} || 0, $high{$_} || 0) } @groups, "memory"), $most || "-"), " |\n";
    print STDERR "$name: $refits recipe(s) begin or cease to fit\n" if $refits;
}
