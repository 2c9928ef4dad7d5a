#!/usr/bin/perl
# mutate.pl - which changes of the code no test would notice: one operator, constant or bound changed at a time.
#
# usage: mutate.pl --build DIR [--count N] [--seed S] [--all-tests] FILE...
# Each mutant is one object built anew and one shared library linked anew; the tests of its room run first, then those of the rooms
# above, until one fails or takes too long. What passes them all is printed: FILE:LINE, the change, and the line. Exit 1 when more
# than 5 % survive.
use strict;
use warnings;
use Getopt::Long;
use File::Basename;
use File::Path qw(make_path);

my ($build, $count, $seed, $share) = ("build/mutate", 200, 1, 0.05);
GetOptions("build=s" => \$build, "count=i" => \$count, "seed=i" => \$seed, "share=f" => \$share) or exit 2;
my @files = @ARGV or die "mutate.pl: name the files to change\n";
my $flags = $ENV{MUTATE_FLAGS} // die "mutate.pl: run it by 'make mutate'\n";
my $libs = $ENV{MUTATE_LIBS} // "";
my $timeout_s = 60;

# What becomes what. Operators stand between spaces, by the style of this code.
my %becomes = (" < " => " <= ", " <= " => " < ", " > " => " >= ", " >= " => " > ", " == " => " != ", " != " => " == ",
               " && " => " || ", " || " => " && ", " + " => " - ", " - " => " + ", " * " => " / ", " / " => " * ",
               " += " => " -= ", "++" => "--");
my $operators = join "|", map { quotemeta } sort { length $b <=> length $a } keys %becomes;

sub sites {                             # [file, line number, offset, length, replacement]
    my ($file) = @_;
    open my $f, "<", $file or die "$file: $!\n";
    my (@found, $in_comment, $n);
    while (my $line = <$f>) {
        $n++;
        my $code = $line;
        if ($in_comment) { $code =~ s{^(.*?\*/)}{" " x length $1}e ? ($in_comment = 0) : next; }
        $code =~ s{(/\*.*?\*/)}{" " x length $1}ge;
        $in_comment = 1 if $code =~ s{(/\*.*)$}{" " x length $1}e;
        $code =~ s{("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')}{" " x length $1}ge;
        next if $code =~ /^\s*#|^\s*assert\(|_Static_assert|^(static |extern |const |struct |enum |bool |void )?[a-z_0-9 *]+\(.*\)\s*$/;
        while ($code =~ /($operators)/g) {
            push @found, [$file, $n, pos($code) - length $1, length $1, $becomes{$1}];
        }
        while ($code =~ /(?<![\w.\[])(\d+\.\d+|\d+)(?![\w.\]]|\s*:)/g) {
            my ($old, $end) = ($1, pos $code);
            my $new = index($old, ".") >= 0 ? $old * 1.1 : $old + 1;
            push @found, [$file, $n, $end - length $old, length $old, $new];
        }
    }
    return @found;
}

sub quiet { my ($command) = @_; return system("($command) >$build/log 2>&1") >> 8; }

my %objects;                            # source => object, of the whole library
for my $source (glob "system-model/*/*.c workloads/*/*.c results/*/*.c") {
    ($objects{$source} = "$build/$source") =~ s/\.c$/.o/;
}
sub compile { my ($from, $source) = @_; return quiet("$flags -c -o $objects{$source} $from") == 0; }
sub link_library { return quiet("gcc -shared -o $build/libmutant.so " . join(" ", map { $objects{$_} } sort keys %objects)) == 0; }

my @rooms = map { basename $_ } qw(base machine graph network compiler schedule timeline convergence models recipe simulate published
                                   mlperf accuracy calibration);
sub tests_of {                          # the file's own room first, then those above, then those below
    my $room = basename dirname $_[0];
    my ($at) = grep { $rooms[$_] eq $room } 0 .. $#rooms;
    $at //= 0;
    my @order = (@rooms[$at .. $#rooms], @rooms[0 .. $at - 1]);
    my %seen;
    return grep { -x && !$seen{$_}++ } map { sort glob "$build/tests/$_/t_*" } @order, "*";
}

sub killer {
    my ($file) = @_;
    for my $test (tests_of($file)) {
        return $test if quiet("timeout $timeout_s $test") != 0;
    }
    return undef;
}

my $broken = killer($files[0]);
die "mutate.pl: $broken fails before anything is changed: see $build/log\n" if $broken;
my @all = map { sites($_) } @files;
srand $seed;
for my $i (reverse 1 .. $#all) { my $k = int rand($i + 1); @all[$i, $k] = @all[$k, $i]; }
splice @all, $count if @all > $count;
my ($killed, $survived, $unbuilt, %by) = (0, 0, 0);
for my $site (@all) {
    my ($file, $n, $offset, $length, $new) = @$site;
    open my $f, "<", $file or die;
    my @lines = <$f>;
    close $f;
    my $old = substr $lines[$n - 1], $offset, $length;
    (my $shown = $lines[$n - 1]) =~ s/^\s+|\s+$//g;
    substr($lines[$n - 1], $offset, $length) = $new;
    my $mutant = "$build/mutant.c";
    open my $out, ">", $mutant or die;
    print $out @lines;
    close $out;
    if (!compile($mutant, $file)) { $unbuilt++; compile($file, $file); next; }
    link_library() or die "the library does not link\n";
    my $by = killer($file);
    compile($file, $file) or die;
    if ($by) { $killed++; $by{$by}++; next; }
    $survived++;
    print "$file:$n: '$old' -> '$new': $shown\n";
}
link_library();
my $n = $killed + $survived;
printf "%d mutants of %d files: %d killed, %d survived (%.1f %%); %d did not compile\n", $n, scalar @files, $killed, $survived,
       $n ? 100 * $survived / $n : 0, $unbuilt;
exit($survived > $share * $n ? 1 : 0);
