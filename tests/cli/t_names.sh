#!/bin/sh
# Names of recipes and figures that mean something to CSV, HTML, XML, a shell or printf: whatever prints them, it is the same name that is read.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
stock=$PWD/workloads/recipes/vendor-c600-resnet50-b1-poprt.ini
mkdir "$work/recipes" "$work/published"
cd "$work" || exit 1
printf '%s\n' 'a,b' '"q"' "ap'os" 'a<b>&c' 'é ü' '-dash' '=cmd()' 'a\b' '#h' '%s%n' '$(id)' 'a"",b' >names
echo 'id,recipe,metric,value,unit,tolerance,role,source,quote,note' >published/f.csv
while read -r name; do
    NAME=$name perl -pe 's/^id = .*/id = $ENV{NAME}/' "$stock" >"recipes/$name.ini"
    quoted=$(printf %s "$name" | sed 's/"/""/g')
    printf '"fig <%s>","%s",throughput_samples_per_s,3500,samples/s,0.1,validate,"a <b> & ""c""",,\n' "$quoted" "$quoted" >>published/f.csv
done <names
run bench --recipes recipes --published published --out run
gives 0 "12 recipes and 12 figures in run" "recipes and figures of such names"

# CSV - the cells of the column, a line each, as one who knows quotes reads them
column() {
    perl -ne 'BEGIN { $c = shift } chomp; my @v; while (/\G(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/g) { my $x = $1 // $2; $x =~ s/""/"/g; $x =~ s/^\x27(?=[=+\-@])//; push @v, $x; last if $3 eq "" }
        if ($. == 1) { ($at) = grep { $v[$_] eq $c } 0 .. $#v } else { print "$v[$at]\n" }' "$1" | sort -u
}
sort names >want
column id <run/rows.csv >got
cmp -s want got
result $? "in the rows of a run" "$(diff want got)"
for label in one two; do "$PODBENCH" record run --baseline base --label $label >/dev/null; done
run history latency_s --baseline base --format csv
column recipe <out >got
[ "$status" -eq 0 ] && [ ! -s err ] && cmp -s want got && [ "$(wc -l <out)" -eq 25 ]
result $? "in a history" "$(cat err; diff want got)"
while read -r name; do
    "$PODBENCH" history latency_s --baseline base -- "$name" >out 2>&1 || echo "$name: $(cat out)"
done >failed <names
[ ! -s failed ]
result $? "each is found there by its name" "$(cat failed)"
cp base/history.csv whole.csv
while IFS='|' read -r line want; do
    { cat whole.csv; echo "$line"; } >base/history.csv
    run history latency_s --baseline base
    [ "$status" -eq 2 ] && grep -q "base/history.csv:[0-9]*: $want" err
    result $? "a broken line is refused: $line" "$(cat err)"
done <<'EOF'
broken,t,v,i,"x,latency_s,1,s|a quote is not closed
broken,t,v,i,"x"y,latency_s,1,s|a quote stands within a cell
broken,t,v,i,x,latency_s,1,s,|9 cells, want 8
broken,t,v,i,x,latency_s,1|7 cells, want 8
EOF
cp whole.csv base/history.csv
for format in junit json; do "$PODBENCH" check run --format $format >run.$format; done
perl -MJSON::PP -e 'local $/; print map { $_->{recipe} . "\n" } @{decode_json(<STDIN>)}' <run.json >got.bytes
[ "$(wc -l <got.bytes)" -eq 12 ]
result $? "in JSON"

# ---- a page: every tag is closed, and none is a name
"$PODBENCH" plot run >/dev/null 2>&1
run report run
perl -0777 -ne 's/<(script|style)>.*?<\/\1>//gs; s/<!.*?>//gs;
    while (m{<(/?)([^\s>/]+)((?:[^>"\x27]|"[^"]*"|\x27[^\x27]*\x27)*?)(/?)>}g) {
        next if $4 or $2 =~ /^(meta|br|img|link|input|hr|col)$/;
        if (!$1) { push @open, $2 } elsif (@open && $open[-1] eq $2) { pop @open } else { print "/$2 after @open[-2..-1]\n"; last }
    }
    print "open: @open\n" if @open; print "not escaped\n" if /a<b>/ or !/a&lt;b&gt;&amp;c/' run/report.html >faults
[ "$status" -eq 0 ] && [ ! -s faults ]
result $? "a page of such names" "$(cat faults err)"
if [ -e run/figures/findings.csv ]; then
    for text in 'figure\nx' 'finding\nx' 'x,y\n1,2'; do
        printf "$text\n" >run/figures/findings.csv
        run report run
        [ "$status" -eq 0 ] && grep -q 'No figures were drawn' run/report.html
        result $? "findings without their columns: $(printf "$text" | head -n 1)" "$(cat err)"
    done
    printf 'figure,finding\na<b>,x\n' >run/figures/findings.csv
    echo '<svg id="x"></svg>' >'run/figures/a<b>.svg'
    run report run
    [ "$status" -eq 0 ] && grep -q '^<svg id="a&lt;b&gt;-x"></svg>$' run/report.html && grep -q '^<figure id="figure-a&lt;b&gt;" tabindex="0"><figcaption>x' run/report.html
    result $? "a figure of such a name" "$(cat err)"
else
    result 0 "findings without their columns # SKIP no gnuplot here"
fi
done_testing
