#!/usr/bin/perl
# mutate.pl - which changes of the code no test would notice: one operator, constant or bound changed at a time.
#
# usage: mutate.pl --build DIR --guarded DIR --lines DIR [--count N] [--seed S] [--jobs N] [--budget S] [--only FILE[:LINE]]... FILE|FOLDER...
# DIR of --build holds the objects, the library and the tests linked against it; DIR of --lines holds, for each test, the lines of the
# product that it runs (TEST.lines, by clang's counters). A mutant is one object built anew and the library linked anew. The tests that
# run the changed line are run, the quick and near ones first, until one fails, or takes four times the processor time it usually
# takes; --budget S: those that fit into so many seconds of processor, so the true score is better than the one printed. What passes is
# printed: FILE:LINE:COLUMN, the change, and the line. Exit 1 when more than 5 % survive. What no test notices is put to the gate: the prediction
# of every recipe against results/baselines, as CI does it. What that passes is put to the same tests under the sanitizers, as CI runs them:
# DIR of --guarded holds the objects, the library and the tests built so. What either alone notices counts as killed, and is told.
# What provably changes nothing is dropped and counted: a mutant that the compiler, or one of the others (MUTATE_OTHERS, by ';'; asked
# about what no test noticed), turns into the same object as the file as it is. Not drawn, for the same reason: room that is made; which
# of two equals the larger or the smaller is (orders_of_equals), and the order of two where they are known to differ (orders_of_different);
# how far above or below zero "? -1 : 1" is in a function that compares for qsort, which looks at the sign alone; and assertions, with the
# loops over them.
# Every verdict goes to DIR/verdicts at once, and holds while the file is as it was; that a mutant survives, while its tests are as they
# were and the budget is no larger. So a sitting that was cut short goes on, and one after new tests tries the survivors only.
use strict;
use warnings;
use Getopt::Long;
use File::Basename;
use File::Path qw(make_path);
use Cwd qw(abs_path);
use Digest::MD5 qw(md5_hex);
use POSIX qw(_exit);

my ($build, $guarded_build, $lines, $count, $seed, $jobs, $share, $budget, @only) = ("build/mutate", "build/guarded", "build/lines", 200, 1, 2, 0.05, 40);
GetOptions("build=s" => \$build, "guarded=s" => \$guarded_build, "lines=s" => \$lines, "count=i" => \$count, "seed=i" => \$seed, "jobs=i" => \$jobs, "share=f" => \$share,
           "budget=f" => \$budget, "only=s" => \@only) or exit 2;
my @files = map { -d $_ ? sort(glob "$_/*.c $_/*/*.c") : $_ } @ARGV or die "mutate.pl: name the files to change\n";
# The two ways that tests are run: the folder of what is built so, what compiles and links it, and how much slower it is.
my %plain = (folder => $build, compiler => $ENV{MUTATE_COMPILER} // die("mutate.pl: run it by 'make mutate'\n"), linker => $ENV{MUTATE_LINKER}, times => 1);
my %guarded = (folder => $guarded_build, compiler => $ENV{MUTATE_GUARDED_COMPILER}, linker => $ENV{MUTATE_GUARDED_LINKER}, times => 4);
my $libs = $ENV{MUTATE_LIBS};
my @others = split /\s*;\s*/, $ENV{MUTATE_OTHERS} // "";
$| = 1;

my %text;                               # file => its lines
sub text_of {
    my ($file) = @_;
    $text{$file} //= do { open my $f, "<", $file or die "$file: $!\n"; [<$f>] };
    return @{$text{$file}};
}

# ---- what becomes what. Operators stand between spaces, by the style of this code.
my %becomes = (" < " => " <= ", " <= " => " < ", " > " => " >= ", " >= " => " > ", " == " => " != ", " != " => " == ",
               " && " => " || ", " || " => " && ", " + " => " - ", " - " => " + ", " * " => " / ", " / " => " * ",
               " += " => " -= ", "++" => "--", "ceil(" => "floor(", "floor(" => "ceil(", "fmax(" => "fmin(", "fmin(" => "fmax(",
               "max_u64(" => "min_u64(", "min_u64(" => "max_u64(", "max_u32(" => "min_u32(", "min_u32(" => "max_u32(");
my $operators = join "|", map { /^\w/ ? "\\b" . quotemeta : quotemeta } sort { length $b <=> length $a } keys %becomes;

# A tenth more; of what is there only against rounding or a division by zero, a thousand times as much.
sub changed_number {
    my ($number, $suffix) = @_;
    return ($number =~ /e-/ && $number < 1e-5 ? $number * 1e3 : $number =~ /[.e]/ ? $number * 1.1 : $number + 1) . $suffix;
}

sub alone {                             # without brackets that are closed, or opened, elsewhere
    my ($text) = @_;
    my $open = ($text =~ tr/(//) - ($text =~ tr/)//);
    $text =~ s/^\(+// if $open > 0;
    $text =~ s/\)+$// if $open < 0;
    return $text;
}

# "a < b ? b : a", and "if (a < b)" before "a = b;": where both are equal it is the same which one is taken. Offsets of such an order.
sub orders_of_equals {
    my ($code, $next) = @_;
    my ($term, %at) = qr/[\w.\[\]()>-]++/;
    while ($code =~ m{(?<![-+*/%] )(?<!\S)($term) (<=?|>=?) ($term) \? ($term) : ($term)(?! [-+*/%] )}g) {
        my ($at, $a, $b, $yes, $no) = ($-[2] - 1, map { alone($_) } $1, $3, $4, $5);
        $at{$at} = 1 if ($yes eq $a && $no eq $b) || ($yes eq $b && $no eq $a);
        pos($code) = $-[5];             # what follows may be another
    }
    if ($code =~ /^\s*(?:\} else )?if \(([\w.\[\]>-]+) ([<>]) ([\w.\[\]>-]+)\)$/) {
        my ($at, $a, $b) = ($-[2] - 1, $1, $3);
        $at{$at} = 1 if $next =~ /^\s*(?:\Q$a\E = \Q$b\E|\Q$b\E = \Q$a\E);$/;
    }
    return \%at;
}

# "a != b ? (a < b ?" and "a != b ? (a < b) - (a > b)", and "a < b ?" in the one statement under "if (a != b)" that sets neither: whether
# equals count does not matter. Offsets of such an order.
sub orders_of_different {
    my ($code, $above) = @_;
    my ($term, %at) = qr/[\w.\[\]>-]+/;
    while ($code =~ m{(?<![\w.\[\]>-])($term) != ($term) \? \(\1 [<>]=? \2(?= \?)}g) { $at{$-[0] + length("$1 != $2 ? ($1")} = 1; }
    while ($code =~ m{(?<![\w.\[\]>-])($term) != ($term) \? \(\1( [<>]=? )\2\) - \(\1( [<>]=? )\2\)}g) { @at{$-[3], $-[4]} = (1, 1); }
    if ($above =~ /^\s*(?:\} else )?if \(($term) != ($term)\)$/) {
        my ($a, $b) = ($1, $2);
        $at{$-[1]} = 1 if $code =~ /(?<![-+*\/%] )(?<![\w.>-])\Q$a\E( [<>]=? )\Q$b\E \?/ && $code !~ /\+\+|--|(?<![\w.>-])(?:\Q$a\E|\Q$b\E) [-+*\/]?= /;
    }
    return \%at;
}

# The head of a loop over an assertion: it looks at the invariant of more or fewer, and does nothing else.
sub is_round_assertion {
    my ($lines, $n) = @_;               # $n: of the line behind
    return 0 unless $lines->[$n - 1] =~ /^\s*for \(.*\)$/;
    $n++ while ($lines->[$n] // "") =~ /^\s*for \(.*\)$/;
    return ($lines->[$n] // "") =~ /^\s*assert\(/;
}

sub sites {                             # [file, line number, offset, length, replacement]
    my ($file) = @_;
    my @lines = text_of($file);
    my (@found, $in_comment, $n, $compares);
    for my $line (@lines) {
        my $code = $line;
        $n++;
        if ($in_comment) { $code =~ s{^(.*?\*/)}{" " x length $1}e ? ($in_comment = 0) : next; }
        $code =~ s{(/\*.*?\*/)}{" " x length $1}ge;
        $in_comment = 1 if $code =~ s{(/\*.*)$}{" " x length $1}e;
        $code =~ s{("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')}{" " x length $1}ge;
        next if $code =~ /^\s*#|^\s*assert\(|_Static_assert|^(static |extern |const |struct |enum |bool |void )?[a-z_][a-z_0-9 *]*\(.*\)\s*$/;
        next if is_round_assertion(\@lines, $n);
        $compares = ($lines[$n - 2] // "") =~ /^static int \w+\(const void \*\w+, const void \*\w+\)$/ if $code =~ /^\{/ && $n > 1;
        my %no_matter = (%{orders_of_equals($code, $lines[$n] // "")}, %{orders_of_different($code, $n > 1 ? $lines[$n - 2] : "")});
        while ($code =~ /($operators)/g) {
            my $at = pos($code) - length $1;
            push @found, [$file, $n, $at, length $1, $becomes{$1}] unless $no_matter{$at};
        }
        # More room than is used changes nothing; a number that is taken away, or divided by, makes less of it.
        $code =~ s/(\b(?:ARENA_ARRAY|ARENA_ROOM|arena_alloc|arena_array|arena_room|ends_new|malloc|calloc)\((?!.* [-\/] ).*)/" " x length $1/e;
        $code =~ s/(\? -?1 : -?1\b)/" " x length $1/ge if $compares;
        $code =~ s/\b((?:cap|room|ROOM) = (?!.* [-\/?] ).*[1-9].*)/" " x length $1/e;
        $code =~ s/\b((?:struct \w+|\w+_t|char|double|bool|int) \**\w+\[[^]]*\])/" " x length $1/ge;
        while ($code =~ /(?<![\w.\[])(\d+(?:\.\d+)?(?:e[-+]?\d+)?)([uUlL]*)(?![\w.\]]|\s*:)/g) {
            push @found, [$file, $n, $-[1], $+[2] - $-[1], changed_number($1, $2)];
        }
    }
    return @found;
}

# ---- which tests run a line, and what they cost
my (%hit, %counted, %touched, %seconds);        # file => line => tests; file => line => 1; file => tests; test => seconds of processor
sub read_lines {
    for my $path (glob "$lines/tests/*/t_*.lines") {
        (my $test = $path) =~ s{^\Q$lines\E/|\.lines$}{}g;
        $test .= ".sh" if -e "$test.sh";
        open my $f, "<", $path or die "$path: $!\n";
        my $head = <$f> // "";
        my ($taken) = $head =~ /^seconds (\S+)/ or die "$path: no seconds\n";
        $seconds{$test} = $taken;
        while (<$f>) {
            my ($file, @ran) = split " ";
            for my $run (@ran) {
                my ($line, $is_run) = $run =~ /^(\d+)([+-])$/ or die "$path: '$run'\n";
                $counted{$file}{$line} = 1;
                push @{$hit{$file}{$line}}, $test if $is_run eq "+";
            }
            push @{$touched{$file}}, $test if grep { /\+$/ } @ran;
        }
    }
    die "mutate.pl: no lines in $lines; run 'make mutate'\n" unless %seconds;
}

# Near and quick ones first, as many as the budget lets; a table has no lines of its own: whatever runs its file. Behind an assertion
# clang's counters stay at zero up to the end of the block: the assertion's own line is asked.
sub tests_of {
    my ($file, $line, $allowed) = @_;
    $allowed //= $budget;
    my @text = text_of($file);
    my $above = $line;
    $above-- while $above > 1 && $counted{$file}{$above} && !$hit{$file}{$above};
    $line = $above if $text[$above - 1] =~ /^\s*assert\(/;
    my $found = $counted{$file}{$line} ? $hit{$file}{$line} : $touched{$file};
    my $room = basename dirname $file;
    my %cost = map { $_ => $seconds{$_} * (m{^tests/\Q$room\E/} ? 0.1 : 1) } @{$found // []};
    my ($sum, @order) = (0);
    for my $test (sort { $cost{$a} <=> $cost{$b} || $a cmp $b } keys %cost) {
        next if $sum + $seconds{$test} > $allowed;       # a long one nearby takes nothing from short ones further away
        $sum += $seconds{$test};
        push @order, $test;
    }
    return @order;
}

# ---- one mutant, in a slot of its own: nothing of the source tree is written
sub quiet { my ($command, $log) = @_; return system("/bin/sh", "-c", "exec >$log 2>&1 </dev/null; $command") == 0; }

sub object_of { my ($way, $file) = @_; return "$way->{folder}/" . $file =~ s/\.c$/.o/r; }
my @all_objects = split " ", $ENV{MUTATE_OBJECTS};
my @program = split " ", $ENV{MUTATE_PROGRAM};
sub with {                              # the objects of a way, one of them another
    my ($way, $file, $new, @objects) = @_;
    my $old = object_of($way, $file);
    return join " ", map { my $o = s{^\Q$build/\E}{$way->{folder}/}r; $o eq $old ? $new : $o } @objects;
}

sub compile_as {                        # the text of a file at its place, wherever it lies: assertions print the same name and line
    my ($object, $file, $text, $slot, $by) = @_;        # $by: the compiler
    open my $out, ">", "$slot/text.c" or die "$slot/text.c: $!\n";
    print $out qq{#line 1 "$file"\n$text};
    close $out;
    # A number for a pointer compiles, by default, and no test has a say in what it points to. -w would let it pass even so.
    return quiet("$by -Werror=int-conversion -c -o $object $slot/text.c", "$slot/log");
}

sub unchanged_object {                  # of the text as it is, compiled once as mutants are
    my ($file, $text, $slot) = @_;
    my $kept = "$build/same/" . md5_hex($file, $text) . ".o";
    return $kept if -e $kept && -M $kept < -M object_of(\%plain, $file);         # built anew where a header has changed
    compile_as("$slot/same.o", $file, $text, $slot, $plain{compiler}) or die "mutate.pl: $file does not compile: see $slot/log\n";
    make_path("$build/same");
    rename "$slot/same.o", $kept or die "$kept: $!\n";
    return $kept;
}

# A slot's library, and the program beside the slot: its own where the file is the program's.
sub podbench_of { my ($slot) = @_; return abs_path(dirname $slot) . "/" . basename($slot) . "-podbench"; }

sub link_mutant {
    my ($way, $file, $object, $slot) = @_;
    my $library = "$way->{linker} -shared -o $slot/libmutant.so " . with($way, $file, $object, @all_objects) . " $libs";
    my $program = podbench_of($slot);
    unlink $program;
    my $made = $file =~ m{^harness/} ? "$way->{linker} -o $program " . with($way, $file, $object, @program) . " -L$slot -lmutant $libs" : "ln -s podbench $program";
    quiet("$library && $made", "$slot/log") or die "mutate.pl: the library does not link: see $slot/log\n";
}

sub passes {
    my ($way, $test, $slot) = @_;
    my $cpu = int($way->{times} * (5 + 4 * $seconds{$test}));           # four times what it usually takes, and room for what is short
    my $command = $test =~ /\.sh$/ ? "sh $test" : "$way->{folder}/$test";
    my $memory = $way == \%plain ? "ulimit -v 8000000; " : "";         # the address sanitizer reserves more than there is
    local @ENV{qw(LD_LIBRARY_PATH PODBENCH CMOCKA_TEST_ABORT)} = (abs_path($slot), podbench_of($slot), 1);
    return quiet("ulimit -c 0; ulimit -t $cpu; ${memory}timeout -k 5 " . ($cpu * 10) . " $command", "$slot/test-log");
}

my $asks_gate;
sub passes_gate {
    my ($slot) = @_;
    my $podbench = podbench_of($slot);
    local $ENV{LD_LIBRARY_PATH} = abs_path($slot);
    return quiet("ulimit -c 0; ulimit -t 60; rm -rf '$slot/gate'; '$podbench' bench --out '$slot/gate' && '$podbench' compare results/baselines '$slot/gate'",
                 "$slot/test-log");
}

sub same_bytes { my ($a, $b) = @_; return system("cmp", "-s", $a, $b) == 0; }

sub is_same_to_others {                 # compilers prove more than the one that the tests are run by
    my ($file, $unchanged, $mutant, $slot) = @_;
    for my $by (@others) {
        compile_as("$slot/other-$_->[0].o", $file, $_->[1], $slot, $by) or return 0 for ["same", $unchanged], ["mutant", $mutant];
        return 1 if same_bytes("$slot/other-same.o", "$slot/other-mutant.o");
    }
    return 0;
}

# The test that fails under the sanitizers, and passes there with the file as it is; none: undef.
sub guarded_killer {
    my ($file, $n, $mutant, $slot) = @_;
    (my $guarded_slot = $slot) =~ s{^\Q$build/\E}{$guarded_build/};
    compile_as("$guarded_slot/mutant.o", $file, $mutant, $guarded_slot, $guarded{compiler}) or die "mutate.pl: $file does not compile: see $guarded_slot/log\n";
    link_mutant(\%guarded, $file, "$guarded_slot/mutant.o", $guarded_slot);
    for my $test (tests_of($file, $n, $budget / $guarded{times})) {
        next if passes(\%guarded, $test, $guarded_slot);
        link_mutant(\%guarded, $file, object_of(\%guarded, $file), $guarded_slot);
        passes(\%guarded, $test, $guarded_slot) or die "mutate.pl: under the sanitizers $test fails before anything is changed: see $guarded_slot/test-log\n";
        return $test;
    }
    return undef;
}

sub verdict {                           # dropped, unbuilt, survived or the test that killed it
    my ($site, $slot) = @_;
    my ($file, $n, $offset, $length, $new) = @$site;
    my @text = text_of($file);
    my $as_it_is = join "", @text;
    my $unchanged = unchanged_object($file, $as_it_is, $slot);
    substr($text[$n - 1], $offset, $length) = $new;
    my $mutant = join "", @text;
    return "unbuilt" unless compile_as("$slot/mutant.o", $file, $mutant, $slot, $plain{compiler});
    return "same" if same_bytes($unchanged, "$slot/mutant.o");
    link_mutant(\%plain, $file, "$slot/mutant.o", $slot);
    my @tests = tests_of($file, $n);
    for my $test (@tests) { return $test unless passes(\%plain, $test, $slot); }
    return "the gate" if $asks_gate && !passes_gate($slot);
    return "same" if is_same_to_others($file, $as_it_is, $mutant, $slot);
    return "not run" unless @tests;
    my $killer = guarded_killer($file, $n, $mutant, $slot);
    return $killer ? "the sanitizers in $killer" : "survived";
}

# A test that fails before anything is changed kills nothing; nor does the gate, between a change of the model and its baseline.
sub check_unchanged {
    my ($slot) = @_;
    link_mutant(\%plain, $files[0], object_of(\%plain, $files[0]), $slot);
    $asks_gate = passes_gate($slot) or print "the gate is not asked: predictions differ from results/baselines before anything is changed\n";
    for my $test (grep { $seconds{$_} <= $budget } sort keys %seconds) {
        (my $stamp = "$build/$test") =~ s/(\.sh)?$/.passed/;
        (my $ran = "$lines/$test") =~ s/(\.sh)?$/.lines/;
        next if -e $stamp && -M $stamp < -M $ran;
        passes(\%plain, $test, $slot) or die "mutate.pl: $test fails before anything is changed: see $slot/test-log\n";
        make_path(dirname $stamp);
        open my $out, ">", $stamp or die "$stamp: $!\n";
    }
}

# ---- verdicts of this sitting and of earlier ones, a line each: digest of the file, the change, when, the budget, the verdict
my %known;
sub key_of { my ($site) = @_; return join "\t", md5_hex(text_of($site->[0])), @$site; }

sub read_verdicts {
    open my $f, "<", "$build/verdicts" or return;
    while (<$f>) {
        my ($key, $when, $allowed, $said) = /^(.*)\t(\d+)\t(\S+)\t([^\t]+)\n/ or next;
        $known{$key} = [$when, $allowed, $said];
    }
}

sub changed_s { my ($path) = @_; return (stat $path)[9] // 0; }

sub known_verdict {
    my ($site) = @_;
    my ($when, $allowed, $said) = @{$known{key_of($site)} // return};
    return $said unless $said =~ /^survived|^not run/;
    return if $budget > $allowed;
    return (grep { changed_s(/\.sh$/ ? $_ : "$_.c") > $when } tests_of(@$site[0, 1])) ? undef : $said;
}

sub keep_verdict {
    my ($site, $said) = @_;
    open my $f, ">>", "$build/verdicts" or die "$build/verdicts: $!\n";
    print $f join("\t", key_of($site), time, $budget, $said), "\n";
}

# ---- the draw: in the order of the seed, until as many are judged as were asked for
sub drawn {
    my @all = map { sites($_) } @files;
    my %only = map { $_ => 1 } @only;
    return grep { $only{$_->[0]} || $only{"$_->[0]:$_->[1]"} } @all if @only;
    srand $seed;
    for my $i (reverse 1 .. $#all) { my $k = int rand($i + 1); @all[$i, $k] = @all[$k, $i]; }
    return @all;
}

sub shown {                             # FILE:LINE:COLUMN: 'old' -> 'new': the line
    my ($file, $n, $offset, $length, $new) = @{$_[0]};
    my $line = (text_of($file))[$n - 1];
    my $old = substr $line, $offset, $length;
    $line =~ s/^\s+|\s+$//g;
    return "$file:$n:" . ($offset + 1) . ": '$old' -> '$new': $line";
}

read_lines();
read_verdicts();
make_path(map { ("$build/slot$_", "$guarded_build/slot$_") } 1 .. $jobs);
check_unchanged("$build/slot1");
my @draw = drawn();
$count = @draw if @only || $count > @draw;
my (%running, %number, %killers, %rooms, @survivors);
my @free = map { "$build/slot$_" } 1 .. $jobs;
$number{$_} = 0 for qw(same unbuilt survived killed);
sub start {
    my ($site, $slot) = @_;
    my $child = fork // die "fork: $!\n";
    if (!$child) {
        my $said = eval { verdict($site, $slot) } // "error $@";
        open my $out, ">", "$slot/verdict" or _exit(1);
        print $out $said;
        close $out;
        _exit(0);
    }
    $running{$child} = [$site, $slot];
}

sub take {
    my $child = wait;
    my ($site, $slot) = @{delete $running{$child} // die "mutate.pl: a child is lost\n"};
    push @free, $slot;
    open my $f, "<", "$slot/verdict" or die "mutate.pl: nothing from $slot\n";
    my $said = <$f>;
    die "mutate.pl: $said" if $said =~ /^error/;
    unlink "$slot/verdict";
    keep_verdict($site, $said);
    count_verdict($site, $said);
}

sub count_verdict {
    my ($site, $said) = @_;
    my $room = dirname $site->[0];
    if ($said eq "same" || $said eq "unbuilt") { $number{$said}++; return; }
    $rooms{$room}{all}++;
    if ($said =~ m{^tests/|^the }) { $number{killed}++; $killers{$said}++; print "killed by $said: ", shown($site), "\n"; return; }
    $number{survived}++;
    $rooms{$room}{survived}++;
    print $said eq "not run" ? "NO SHORT TEST RUNS " : "SURVIVED ", shown($site), "\n";
    push @survivors, $site;
}
while (@draw || %running) {
    my $judged = $number{killed} + $number{survived};
    last if $judged >= $count && !%running;
    if (!@free || !@draw || $judged + keys(%running) >= $count) { take(); next; }
    my $site = shift @draw;
    my $said = known_verdict($site);
    if (defined $said) { count_verdict($site, $said); } else { start($site, shift @free); }
}

print "\nsurvivors:\n", map { shown($_) . "\n" } sort { $a->[0] cmp $b->[0] || $a->[1] <=> $b->[1] } @survivors;
print "\nby room:\n";
printf "%-28s %3d of %3d survived\n", $_, $rooms{$_}{survived} // 0, $rooms{$_}{all} for sort keys %rooms;
my ($shell, $by_guards) = (0, 0);
$shell += $killers{$_} for grep { m{^tests/.*\.sh$} } keys %killers;
$by_guards += $killers{$_} for grep { /^the sanitizers/ } keys %killers;
my $n = $number{killed} + $number{survived};
printf "\nseed %d: %d mutants of %d files: %d killed (%d of them by shell tests alone, %d by the gate, %d under the sanitizers), %d survived (%.1f %%); besides, %d compile to the "
       . "same object, %d do not compile\n", $seed, $n, scalar @files, $number{killed}, $shell, $killers{"the gate"} // 0, $by_guards, $number{survived}, $n ? 100 * $number{survived} / $n : 0,
       $number{same}, $number{unbuilt};
exit($number{survived} > $share * $n ? 1 : 0);
