#!/usr/bin/perl
# memo_proof.pl - what happens to someone who adds a key and forgets that plans are remembered. In a copy of the sources, two keys are added as
# in CONTRIBUTING: one multiplies a formula of memory.c, the other one of update.c. Then each is brought to its formula in some wrong way, and in
# the right one. A way is harmless if it does not compile, if the key has no effect at all, or if `run` and `sweep` give the same numbers.
#
# usage: memo_proof.pl COPY COMPILER     Exit 1 if any way is harmful.
use strict;
use warnings;
$| = 1;

my ($copy, $compiler) = @ARGV;
my ($recipe, @values) = ("vendor-ipu-pod16-bert-large-ph1-tf1", 1, 2, 4);
my %original;           # texts of the files that are patched at the moment

sub text_of { open my $f, "<", $_[0] or die "$_[0]: $!\n"; local $/; <$f> }
sub write_text { my ($path, $text) = @_; open my $f, ">", $path or die "$path: $!\n"; print $f $text; close $f or die "$path: $!\n" }

# Replaces one place; dies if there is none, or several.
sub patch {
    my ($path, $from, $to) = @_;
    my $text = text_of("$copy/$path");
    $original{$path} //= $text;
    my $n = () = $text =~ /\Q$from\E/g;
    die "memo_proof: $path has $n places for the patch '$from'\n" unless $n == 1;
    $text =~ s/\Q$from\E/$to/;
    write_text("$copy/$path", $text);
}

sub copy_sources {
    system("mkdir -p $copy && git ls-files -z | tar --null -T - -cf - | tar -x -m -C $copy") == 0 or die "memo_proof: no copy\n";
}

sub restore {
    write_text("$copy/$_", $original{$_}) for keys %original;
    %original = ();
}

# A key of [parallel], from the table to the request.
sub add_key {
    my ($key) = @_;
    patch("workloads/recipe/recipe.h", "    uint64_t io_tiles;\n", "    uint64_t io_tiles, $key;\n");
    patch("workloads/recipe/recipe_keys.c", qq~    COUNT("parallel", "io_tiles", io_tiles,~,
          qq~    COUNT("parallel", "$key", $key, 0, 100, false, NULL, "a factor"),\n    COUNT("parallel", "io_tiles", io_tiles,~);
    patch("workloads/recipe/recipe_plan.c", ".io_tiles = (uint32_t)r->io_tiles,", ".io_tiles = (uint32_t)r->io_tiles, .$key = r->$key ? (uint32_t)r->$key : 1,");
    patch("system-model/plan/plan_request.h", "    uint32_t io_tiles;\n", "    uint32_t io_tiles, $key;\n");
}

# Formulas, with the struct from which each is fed, and the function that fills it. FACTOR stands for what the way reads.
my %formulas = (
    stash_copies => {
        file => "system-model/plan/memory.c", from => "return small ? bytes / 2 : bytes;", to => "return (small ? bytes / 2 : bytes) * FACTOR;",
        declared => "system-model/plan/memory.c", struct => "MEMO_INPUT(memory_input,\n", filled => "system-model/plan/memory.c", fill => ".schedule = o->schedule,", via => "q" },
    gradient_copies => {
        file => "system-model/plan/update.c", from => "double bytes = (double)(chain->n_elements * data_type_bytes(chain->type));\n    b->n_parts",
        to => "double bytes = (double)(chain->n_elements * data_type_bytes(chain->type)) * FACTOR;\n    b->n_parts",
        declared => "system-model/plan/update_internal.h", struct => "MEMO_INPUT(update_terms,\n", filled => "system-model/plan/plan_update.c", fill => ".n_replicas = o->n_replicas,", via => "b->q" },
);

sub formula { my ($key, $factor) = @_; my $f = $formulas{$key}; (my $to = $f->{to}) =~ s/FACTOR/$factor/; patch($f->{file}, $f->{from}, $to) }
sub member { my ($key, $text) = @_; my $f = $formulas{$key}; patch($f->{declared}, $f->{struct}, "$f->{struct}    $text\n") }
sub filled { my ($key, $text) = @_; my $f = $formulas{$key}; patch($f->{filled}, $f->{fill}, "$f->{fill} $text") }

my @ways = (
    [ "right: in the input, and filled", sub { my $k = shift; member($k, "double $k;"); filled($k, ".$k = o->$k,"); formula($k, "(uint64_t)$formulas{$k}{via}->$k") } ],
    [ "key forgotten: the formula reads a member that the input lacks", sub { my $k = shift; formula($k, "$formulas{$k}{via}->$k") } ],
    [ "key forgotten: in the input, and not filled", sub { my $k = shift; member($k, "double $k;"); formula($k, "(uint64_t)$formulas{$k}{via}->$k") } ],
    [ "the formula reads the request", sub { my $k = shift; formula($k, "p->request.$k") } ],
    [ "hole: a number that leaves a gap", sub { my $k = shift; member($k, "uint32_t $k;"); filled($k, ".$k = o->$k,"); formula($k, "$formulas{$k}{via}->$k") } ],
    [ "hole: a flag between wider members", sub { my $k = shift; member($k, "bool $k;"); filled($k, ".$k = o->$k > 1,"); formula($k, "(1 + $formulas{$k}{via}->$k)") } ],
    [ "pointer that the memo does not own", sub { my $k = shift; member($k, "const struct plan_request *asked;"); filled($k, ".asked = o,");
                                                  formula($k, "$formulas{$k}{via}->asked->$k") } ],
);

sub built {
    return system("make -C $copy -j2 B=build CC='$compiler' build/podbench >$copy/log 2>&1") == 0;
}

# Step time, memory and verdict of each value: by one run each, and by one sweep.
sub run_numbers {
    my ($key, $value) = @_;
    my $text = `cd $copy && build/podbench run $recipe --set parallel.$key=$value --format json 2>notes`;
    my $idle = text_of("$copy/notes") =~ /no effect here: .*parallel\.$key/;
    my @numbers = map { $text =~ /"$_": ([^,\n]+)/ ? $1 : "?" } qw(step_time_s memory_peak_bytes_per_tile fits);
    return (join(" ", @numbers), $idle);
}

sub sweep_numbers {
    my ($key) = @_;
    my $list = join ",", @values;
    return map { my $row = $_; join " ", map { $row =~ /"$_":([^,]+)/ ? $1 : "?" } qw(step_time_s memory_peak_bytes_per_tile fits) }
        split /\n/, `cd $copy && build/podbench sweep $recipe --over parallel.$key=$list --format json 2>/dev/null`;
}

sub verdict {
    my ($key) = @_;
    return (0, "does not compile: " . (text_of("$copy/log") =~ /error: (.*)/ ? $1 : "?")) unless built();
    my @sweep = sweep_numbers($key);
    my @run = map { [ run_numbers($key, $_) ] } @values;
    my %different = map { $_->[0] => 1 } @run;
    my $told = grep { $_->[1] } @run[1 .. $#run];       # the first value is the default
    return (1, "run and sweep differ: " . join("; ", map { $_->[0] } @run) . " against " . join("; ", @sweep)) if join(";", map { $_->[0] } @run) ne join(";", @sweep);
    return (0, "no effect at all" . ($told ? ", and run says so" : "")) if keys %different == 1;
    return (1, "has an effect, and run says that it has none") if $told;
    return (0, "run and sweep agree");
}

my $n_harmful = 0;
copy_sources();
for my $key (sort keys %formulas) {
    add_key($key);
    my %before_key = %original;
    %original = ();
    for my $way (@ways) {
        $way->[1]->($key);
        my ($harmful, $text) = verdict($key);
        $n_harmful += $harmful;
        printf "%-9s %-16s %s: %s\n", $harmful ? "HARMFUL" : "harmless", $key, $way->[0], $text;
        restore();
    }
    %original = %before_key;
    restore();
}
exit($n_harmful > 0);
