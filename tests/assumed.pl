#!/usr/bin/perl
# assumed.pl - what the assumed numbers that stand in code do: each is halved (rounded down) and doubled, a flag turned, and every recipe is
# simulated by one program, built so that it reads them from its environment. Writes the table between "<!-- assumed -->" and "<!-- end -->" of a page
# (docs/maintainers/trust.md): the largest changes of the step time and of the fullest tile's memory, the recipe that moves most, and how many begin or cease to fit.
#
# usage: assumed.pl BUILD COMPILER PAGE
use strict;
use warnings;
use File::Path qw(make_path);
$| = 1;

my ($build, $compiler, $page) = @ARGV;
my ($header, @groups) = ("system-model/base/assumed.h", "bert-large", "resnet50", "others");
my $varied = "$build/varied";
make_path("$varied/system-model/base");

sub text_of { open my $f, "<", $_[0] or die "$_[0]: $!\n"; local $/; <$f> }
sub write_text { my ($path, $text) = @_; open my $f, ">", $path or die "$path: $!\n"; print $f $text; close $f or die "$path: $!\n" }

# The header with each number read once from the environment, where it is given.
sub header_of_variables {
    my ($text) = @_;
    my $defines = join "", map { "#define $_->[0] ASSUMED_OF(\"$_->[0]\", $_->[1])\n" } numbers($text);
    my $reader = "#include <stdlib.h>\n#define ASSUMED_OF(name, value) (__extension__({ static int of_ = -1; if (of_ < 0) { const char *given_ = getenv(name); "
        . "of_ = given_ ? atoi(given_) : value; } of_; }))\n";
    $text =~ s/#define X\(name, value, unit, enters, why\) name = value,\nenum \{ ASSUMED\(X\) \};\n#undef X\n/$reader$defines/ or die "$header: its enumeration is not found\n";
    return $text;
}

sub numbers { my @all; push @all, [$1, $2, $3] while $_[0] =~ /^ +X\((\w+), (\d+), "([^"]+)"/mg; return @all }

# The recipes' rows, by name, with one number at another value.
sub rows_with {
    local %ENV = (%ENV, @_);
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
write_text("$varied/$header", header_of_variables($text));
system("make -j2 B=$build CC='$compiler -I$varied' CFLAGS=-O2 $build/podbench >$build/log 2>&1") == 0 or die text_of("$build/log");
my $base = rows_with();
my $table = "| number | BERT-Large | ResNet-50 | all others | fullest tile | moves most | fit changes |\n|---|---|---|---|---|---|---:|\n";
for my $number (numbers($text)) {
    my ($name, $value, $unit) = @$number;
    my (%low, %high, $most);
    my ($largest, $refits) = (0, 0);
    for my $to ($unit eq "flag" ? 1 - $value : (int($value / 2), 2 * $value)) {
        my $rows = rows_with($name, $to);
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
    $table .= join(" | ", "| `$name`", map({ percents($low{$_} || 0, $high{$_} || 0) } @groups, "memory"), $most || "-", $refits) . " |\n";
}
my $written = text_of($page);
$written =~ s/(<!-- assumed -->\n).*?(<!-- end -->)/$1$table$2/s or die "$page: has no <!-- assumed -->\n";
write_text($page, $written);
