#!/usr/bin/perl
# readme.pl PROGRAM PAGE... [--check] - writes what the program says into pages, between markers. With --check: says which pages are not current (exit 1), and changes nothing.
#
#   <!-- reproduced: closed -->   ... <!-- end -->    MLPerf runs of the closed division in the vendor's own frameworks; all: every run, with its times to train
#   <!-- power -->                ... <!-- end -->    rows of power and energy
#   <!-- rows: PATTERN -->        ... <!-- end -->    published rates and times whose recipe or id matches, with their errors
#   <!-- first: PATTERN -->       ... <!-- end -->    the same figures' first predictions, and today's
#   <!-- table: COMMAND | WORDS | COLUMNS --> ... <!-- end -->  columns, as 0 2 5, of the table in a command's text whose heading begins with the words
#   <!--=NAME-->                  ... <!--/-->        in a sentence: a number of %numbers, or one of published figures, whose recipe, id or metric matches:
#       error ID                    today's error;  first error ID: that of its first prediction;  error ID with KEY=VALUE and KEY=VALUE: if the recipe had these values
#       printed VERSION             intervals of throughput that this version printed with first predictions, or, named "since VERSION", later ones;
#                                   printed inside VERSION: how many of them hold
#       efficiency RECIPE ONE       samples a second of an IPU, as a share of those of the recipe ONE
#       median ROLE PATTERN         of errors without their sign;  first median ROLE PATTERN
#       range PATTERN               of errors without their sign, from the least to the largest
#       too many PATTERN            kB that recipes lack on their fullest tile, from the least to the most
#       count PATTERN               how many of role calibrate or validate are simulated;  first within FACTOR PATTERN: how many first predictions were within a factor
use strict;
use warnings;

my ($program, @pages) = @ARGV;
my $checks = @pages && $pages[-1] eq "--check" && pop @pages;
my (%said, @figures, %figure, %first);

sub says { my ($command) = @_; return $said{$command} //= `"$program" $command 2>/dev/null` }
sub text_of { open my $f, "<", $_[0] or die "$_[0]: $!\n"; local $/; return <$f> }
sub number { my ($x) = @_; return $x >= 1000 ? sprintf("%.0f", $x) : sprintf("%.4g", $x) }
sub percent { return sprintf("%+.1f %%", 100 * $_[0]) }
sub lines { return join("", map { "$_\n" } @_) }

sub cells_of { my ($line) = @_; my @cells = $line =~ /\G("(?:[^"]|"")*"|[^,]*)(?:,|\z)/g; return map { s/^"|"$//gr =~ s/""/"/gr } @cells }

# Figures of check, in the order of the tables: id, recipe, metric, role, workload, system, published, simulated, error.
sub figures {
    return @figures if @figures;
    my ($head, @rows) = map { [cells_of($_)] } split /\n/, says("check --format csv");
    for my $row (@rows) {
        my %of;
        @of{@$head} = map { $_ // "" } @$row;
        push @figures, \%of;
        $figure{ $of{id} } = \%of;
    }
    return @figures;
}

# The first prediction of a row, which first-sight.csv keeps.
sub first_line {
    my ($f) = @_;
    if (!%first) {
        my ($head, @lines) = split /\n/, text_of("results/published/first-sight.csv");
        for my $line (@lines) { my ($id, $seen, @rest) = cells_of($line); $first{$id} //= \@rest }
    }
    return $first{ $f->{id} };
}

sub first_of { my ($f) = @_; my $then = first_line($f); return $then ? $then->[2] : undef }

sub printed_intervals {
    my ($inside, $since, $version) = @_;
    my $n = 0;
    for my $f (grep { $_->{metric} eq "throughput_samples_per_s" } figures()) {
        my ($hash, $of, $predicted, $low, $high) = @{ first_line($f) // [] };
        next unless $low && ($since ? $of ne $version : $of eq $version);
        $n++ if !$inside || $low <= $f->{published} && $f->{published} <= $high;
    }
    return $n;
}

sub first_error { my ($f) = @_; my $then = first_of($f); return defined $then && $f->{published} ? $then / $f->{published} - 1 : undef }
sub figures_like { my ($pattern) = @_; return grep { $_->{simulated} ne "" && $_->{published} ne "" && $_->{published} != 0 && "$_->{recipe} $_->{id} $_->{metric}" =~ $pattern } figures() }
sub figures_like_fits { my ($pattern) = @_; return grep { $_->{metric} eq "fits" && "$_->{recipe} $_->{id}" =~ $pattern } figures() }
sub whole_percent { return sprintf("%.0f %%", 100 * $_[0]) }

sub median_of {
    my @x = sort { $a <=> $b } map { abs($_) } grep { defined($_) } @_;
    @x or die "a median of nothing\n";
    return whole_percent(($x[$#x / 2] + $x[@x / 2]) / 2);
}

sub cells { my ($f, $value, $error) = @_; my $x = $f->{$value}; return $x eq "" ? "- | -" : number($x) . " | " . percent($f->{$error}) }
sub figure_cells { my ($f) = @_; return number($f->{published}) . " | " . cells($f, "simulated", "error") }

sub reproduced {
    my ($all) = ($_[0] eq "all");
    my @out = ("| MLPerf Training run | role | samples/s | simulated | difference |" . ($all ? " minutes to train | simulated | difference | samples predicted too | difference |" : ""),
               "|---|---|---:|---:|---:|" . ($all ? "---:|---:|---:|---:|---:|" : ""));
    figures();
    for my $f (grep { $_->{id} eq "$_->{recipe}.throughput" } @figures) {
        my $id = $f->{recipe};
        next unless $all || ($id =~ /-closed-/ && $id =~ /(bert-large|resnet50)$/);
        my ($steady, $score) = ($figure{"$id.steady"}, $figure{"$id.score"});
        my $times = $score ? figure_cells($score) . " | " . cells($score, "predicted", "predicted_error") : "- | - | - | - | -";
        push @out, "| " . substr($id, 7) . " | $f->{role} | " . figure_cells($f) . " |" . ($all ? " $times |" : "");
        push @out, "| in steady state | $f->{role} | " . figure_cells($steady) . " |" . ($all ? " - | - | - | - | - |" : "") if $steady;
    }
    return lines(@out);
}

sub unit_of { my ($metric) = @_; return $metric =~ /_w$/ ? " W" : $metric =~ /_j$/ ? " J" : $metric =~ /_min$/ ? " min" : $metric =~ /_s$/ && $metric !~ /_per_s$/ ? " s" : $metric =~ /tokens/ ? " tokens/s" : "" }

# A step's time is its throughput again.
sub is_time { my ($f) = @_; return $f->{metric} =~ /(_per_s|_min|latency_s|evaluation_time_s|_per_micro_batch|step_time_s)$/ && $f->{id} !~ /\.step$/ }

sub first_rows {
    my ($pattern) = @_;
    my @out = ("| row | role | published | first predicted | difference | today | difference |", "|---|---|---:|---:|---:|---:|---:|");
    for my $f (grep { defined first_of($_) } figures_like($pattern)) {
        my $unit = unit_of($f->{metric});
        push @out, sprintf("| `%s` | %s | %s%s | %s | %s | %s | %s |", $f->{recipe}, $f->{role}, number($f->{published}), $unit, number(first_of($f)), percent(first_error($f)),
                           number($f->{simulated}), percent($f->{error}));
    }
    return lines(@out);
}

sub rows_where {
    my ($chosen) = @_;
    my @out = ("| row | role | published | predicted | difference |", "|---|---|---:|---:|---:|");
    for my $f (grep { $_->{simulated} ne "" && $_->{published} ne "" && $_->{published} != 0 && $chosen->($_) } figures()) {
        my $unit = unit_of($f->{metric});
        push @out, sprintf("| `%s` | %s | %s%s | %s%s | %s |", $f->{id}, $f->{role}, number($f->{published}), $unit, number($f->{simulated}), $unit, percent($f->{error}));
    }
    return lines(@out);
}

# Columns of a text table are two spaces and more apart.
sub table_of {
    my ($command, $words, $columns) = @_;
    my @columns = split / /, $columns;
    my ($table) = says($command) =~ /^(\Q$words\E.*?)(?:\n\n|\z)/ms or die "'$command' prints no table that begins with '$words'\n";
    my ($head, @rows) = map { [split /\s{2,}/] } split /\n/, $table;
    return lines(map { sprintf("| %s |", join(" | ", @$_[@columns])) } $head, [map { $_ ? "---:" : "---" } 0 .. $#$head], grep { @$_ == @$head } @rows);
}

sub block {
    my ($what) = @_;
    my ($kind, $of) = split /: /, $what, 2;
    return reproduced($of) if $kind eq "reproduced";
    return rows_where(sub { $_[0]{kind} eq "power" }) if $kind eq "power";
    return rows_where(sub { is_time($_[0]) && "$_[0]{recipe} $_[0]{id}" =~ $of }) if $kind eq "rows";
    return first_rows($of) if $kind eq "first";
    return table_of(split / \| /, $of) if $kind eq "table";
    return undef;           # other programs write it
}

# What the brackets of the pattern match in the command's text.
my %numbers = (
    "assumed numbers" => ["list assumptions", qr/(\d+) assumed numbers/m],
    "claims" => ["audit", qr/(\d+) claims/m],
    "constants" => ["list assumptions", qr/(\d+) fitted constants/m],
    "decisions" => ["list assumptions", qr/(\d+) decisions that rows/m],
    "figures" => ["validate", qr/^(\d+) figures/m],
    "figures not stated" => ["validate", qr/(\d+) whose configuration/m],
    "figures of other vendors" => ["validate", qr/(\d+) of other vendors/m],
    "figures of properties" => ["validate", qr/(\d+) that are properties/m],
    "figures simulated" => ["validate", qr/figures: (\d+) simulated/m],
    "figures without a capability" => ["validate", qr/(\d+) need a capability/m],
    "fitted at 0, validate" => ["validate", qr/^validate, first sight +0 +20.* (\d+)$/m],
    "fitted at 60, calibrate" => ["validate", qr/^calibrate, first sight +60 +80.* (\d+)$/m],
    "fitted at 60, validate" => ["validate", qr/^validate, first sight +60 +80.* (\d+)$/m],
    "fitted at 80, calibrate" => ["validate", qr/^calibrate, first sight +80 +100.* (\d+)$/m],
    "fitted at 80, validate" => ["validate", qr/^validate, first sight +80 +100.* (\d+)$/m],
    "given 0, validate" => ["validate", qr/^validate, first sight +0 +20 +(\d+)/m],
    "given 60, calibrate" => ["validate", qr/^calibrate, first sight +60 +80 +(\d+)/m],
    "given 60, validate" => ["validate", qr/^validate, first sight +60 +80 +(\d+)/m],
    "given 80, calibrate" => ["validate", qr/^calibrate, first sight +80 +100 +(\d+)/m],
    "given 80, validate" => ["validate", qr/^validate, first sight +80 +100 +(\d+)/m],
    "half width of new families" => ["validate", qr/^new family, or mode.*?([\d.]+ %) +[\d.]+$/m],
    "half width of programs known" => ["validate", qr/^program and chip known.*?([\d.]+ %) +[\d.]+$/m],
    "inside" => ["validate", qr/^all, their origin left out.*?([\d.]+ %)/m],
    "intervals" => ["validate", qr/^all, their origin left out +(\d+)/m],
    "median of calibrate" => ["list assumptions", qr/^all +calibrate +\d+ +([\d.]+)/m],
    "median of calibrate, family left out" => ["list assumptions", qr/^all +calibrate +\d+ +[\d.]+ +[\d.]+ +([\d.]+)/m],
    "median of calibrate, nothing fitted" => ["list assumptions", qr/^all +calibrate +\d+(?: +[\d.]+){4} +([\d.]+)/m],
    "median of validate" => ["list assumptions", qr/^all +validate +\d+ +([\d.]+)/m],
    "median of validate, family left out" => ["list assumptions", qr/^all +validate +\d+ +[\d.]+ +[\d.]+ +([\d.]+)/m],
    "median of validate, nothing fitted" => ["list assumptions", qr/^all +validate +\d+(?: +[\d.]+){4} +([\d.]+)/m],
    "numbers from runs" => ["list assumptions", qr/(\d+) numbers read from published/m],
    "numbers without a source" => ["list assumptions", qr/and (\d+) more in the code/m],
    "pairs" => ["validate", qr/^all, each group counting once +\d+ +(\d+)/m],
    "pairs in order" => ["validate", qr/^all, each group counting once +\d+ +\d+ +(\d+)/m],
    "verdicts that calibrate" => ["validate", qr/; (\d+) verdicts that calibrate/m],
);

sub of_figures {
    my ($name) = @_;
    figures();
    if ($name =~ /^(first )?error (\S+)$/) {
        my $f = $figure{$2} // die "no figure $2\n";
        return percent($1 ? first_error($f) : $f->{error});
    }
    if ($name =~ /^error (\S+) with (\S+(?: and \S+)*)$/) {
        my ($f, $set) = ($figure{$1} // die("no figure $1\n"), join(" --set ", split(/ and /, $2)));
        my ($found) = says("run $f->{recipe} --set $set --format json") =~ /"\Q$f->{metric}\E": ([-+\d.e]+)/ or die "run $f->{recipe} --set $set: no $f->{metric}\n";
        return percent($found / $f->{published} - 1);
    }
    return printed_intervals($1, $2, $3) if $name =~ /^printed( inside)?( since)? (\S+)$/;
    if ($name =~ /^efficiency (\S+) (\S+)$/) {
        my ($many, $one) = map { my $text = says("run $_ --format json"); my ($rate) = $text =~ /"throughput_samples_per_s": ([\d.e+]+)/; my ($ipus) = $text =~ /"ipus": (\d+)/; $rate / $ipus } $1, $2;
        return whole_percent($many / $one);
    }
    if ($name =~ /^(first )?median (calibrate|validate) (\S+)$/) {
        my ($first, $role, $pattern) = ($1, $2, $3);
        return median_of(map { $first ? first_error($_) : $_->{error} } grep { $_->{role} eq $role } figures_like($pattern));
    }
    if ($name =~ /^range (\S+)$/) {
        my @x = sort { $a <=> $b } map { abs $_->{error} } figures_like($1);
        return sprintf("%.0f to %.0f %%", 100 * $x[0], 100 * $x[-1]);
    }
    if ($name =~ /^too many (\S+)$/) {
        my @x = sort { $a <=> $b } map { says("run $_->{recipe}") =~ /([\d.]+) kB too many/ } figures_like_fits($1);
        return sprintf("%.0f to %.0f kB", $x[0], $x[-1]);
    }
    return scalar(grep { $_->{role} ne "context" } figures_like($1)) if $name =~ /^count (\S+)$/;
    if ($name =~ /^first within (\S+) (\S+)$/) {
        my ($factor, $pattern) = ($1, $2);
        return scalar(grep { my $e = first_error($_); defined $e && 1 + $e <= $factor && 1 + $e >= 1 / $factor } figures_like($pattern));
    }
    return undef;
}

sub in_sentence {
    my ($name) = @_;
    my $of_figures = of_figures($name);
    return $of_figures if defined $of_figures;
    my ($command, $pattern) = @{ $numbers{$name} // die "no number '$name'\n" };
    my ($found) = says($command) =~ $pattern or die "'$command' says nothing like $pattern\n";
    return $found;
}

sub current {
    my ($page) = @_;
    my $text = text_of($page);
    $text =~ s/(<!-- ((?!end )[a-z]+(?:: [^\n]*?)?) -->\n)(.*?)(?=<!-- end -->)/my $new = block($2); $1 . ($new \/\/ $3)/gse;
    $text =~ s/(<!--=(.*?)-->)(.*?)(?=<!--\/-->)/$1 . in_sentence($2)/gse;
    return $text;
}

my $stale = 0;
for my $page (@pages) {
    my ($is, $now) = (text_of($page), current($page));
    next if $is eq $now;
    $stale = 1;
    if ($checks) { print "$page is not current: make readme\n"; next }
    open my $f, ">", $page or die "$page: $!\n";
    print $f $now;
    close $f or die "$page: $!\n";
}
exit($checks && $stale);
