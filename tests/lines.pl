#!/usr/bin/perl
# lines.pl - the lines of the product that a test runs: "FILE 12+ 13- ..." (+ run, - not run), and the seconds of processor it took. A test
# that fails kills nothing: it stops the run by its name.
#
# usage: lines.pl "LIBRARY -object PROGRAM" COMMAND > TEST.lines, for a library and a program that count by clang's counters
use strict;
use warnings;
use Cwd;
use File::Temp qw(tempdir);
my ($objects, @command) = @ARGV;
my $dir = tempdir(CLEANUP => 1);
$ENV{LLVM_PROFILE_FILE} = "$dir/%2m.profraw";
my $status = system("/bin/sh", "-c", "exec \"\$\@\" >$dir/log 2>&1 </dev/null", "sh", @command);
my ($user, $system, $child_user, $child_system) = times;
if ($status != 0) {
    system("tail -5 $dir/log >&2");
    die "lines.pl: @command fails before anything is changed\n";
}
my @raw = glob "$dir/*.profraw";
print "seconds ", $child_user + $child_system, "\n";
exit 0 unless @raw;
system("llvm-profdata", "merge", "-o", "$dir/merged", @raw) == 0 or die "lines.pl: llvm-profdata fails\n";
open my $lcov, "-|", "llvm-cov", "export", "-format=lcov", "-instr-profile=$dir/merged", split(" ", $objects) or die "lines.pl: llvm-cov: $!\n";
my $here = getcwd() . "/";
my ($file, @lines);
while (<$lcov>) {
    if (/^SF:(.*)/) { ($file = $1) =~ s/^\Q$here\E//; @lines = (); }
    if (/^DA:(\d+),(\d+)/) { push @lines, $1 . ($2 ? "+" : "-"); }
    print "$file @lines\n" if /^end_of_record/ && grep { /\+/ } @lines;
}
