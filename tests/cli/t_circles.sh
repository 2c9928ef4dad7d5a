#!/bin/sh
# No circles of calls: where a file uses a function or a datum of another, that one uses nothing of it, directly or by way of others. nm knows.
. tests/tap.sh
build=$(dirname "$PODBENCH")

# Lines "FILE: T name" and "FILE: U name" to the circles among the files, one a line. Exit status 1 where there is one.
circles() {
    perl -ne '/^(\S+?)(?:\.o)?:\s*(?:[0-9a-f]+ )?([TDRBU]) (\S+)$/ or next; $2 eq "U" ? push @{$uses{$1}}, $3 : ($owner{$3} = $1);
        sub reach { my ($from, $seen) = @_; $seen->{$_}++ or reach($_, $seen) for keys %{$to{$from}}; $seen }
        END { for $f (keys %uses) { $o = $owner{$_} and $o ne $f and $to{$f}{$o} = $_ for @{$uses{$f}} }
            for $f (sort keys %to) { $r = reach($f, {}); next if !$r->{$f} || $shown{$f}; $status = 1;
                @circle = grep { $r->{$_} && reach($_, {})->{$f} } sort keys %to; $shown{$_} = 1 for @circle; %in = map { $_ => 1 } @circle;
                print join("; ", map { $x = $_; map { "$x -> $_ ($to{$x}{$_})" } grep { $in{$_} } sort keys %{$to{$x}} } @circle), "\n" }
            exit($status // 0) }'
}
printf '%s\n' 'a.o: 0 T f' 'a.o: U g' 'b.o: 0 D g' 'b.o: U h' 'c.o: 0 T h' 'c.o: U f' 'd.o: U f' 'd.o: 0 T main' | circles >"$work/out"
[ "$(cat "$work/out")" = "a -> b (g); b -> c (h); c -> a (f)" ]
result $? "a circle of three files is found, and no other file" "$(cat "$work/out")"
printf '%s\n' 'a.o: 0 T f' 'a.o: U g' 'b.o: 0 D g' 'b.o: U h' 'c.o: 0 T h' 'c.o: U printf' | circles
result $? "files that use each other in a row are no circle"

sources=$(find system-model workloads results harness -name '*.c' | sed 's|\.c$||')
objects=$(for s in $sources; do [ -e "$build/$s.o" ] && echo "$s.o"; done)
[ "$(echo "$objects" | wc -l)" -eq "$(echo "$sources" | wc -l)" ]
result $? "every file of the product is built"
wrong=$(cd "$build" && nm -A $objects | circles)
result $? "no circle among the files of the product" "$wrong"
done_testing
