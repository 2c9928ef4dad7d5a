#!/bin/sh
# What people type who come from other tools is answered in one line with the remedy.
. tests/tap.sh
recipe=mlperf-v2.0-closed-bow-pod16-bert-large

refuses "--over parallel.micro_batch=1-8: a range is written with two dots: 1..8" "a range with a dash" sweep "$recipe" --over parallel.micro_batch=1-8
refuses "--over parallel.micro_batch=[1,2]: a list is written without brackets: 1,2" "a list in brackets" sweep "$recipe" --over 'parallel.micro_batch=[1,2]'
refuses "--over micro_batch=1..8: want SECTION.KEY=VALUES, as in parallel.micro_batch=1..8" "a key without its section" sweep "$recipe" --over micro_batch=1..8
refuses "unknown machine 'h100'; only IPUs have sheets, and a machine of your own gets one by 'podbench machine NAME --copy MINE'; known: bow," "another vendor's chip" \
    run "$recipe" --set recipe.system=h100
refuses "--set parallel.micro_batch: has no value; write key and value as one word: --set parallel.micro_batch=VALUE" "a value as a word of its own" \
    run "$recipe" --set parallel.micro_batch 4
refuses "unknown command 'simulate'; did you mean 'run'? known: list," "the word of other tools for a command" simulate "$recipe"
refuses "list: 'models' cannot be listed; did you mean 'workloads'? known: recipes," "the word of other tools for a list" list models
refuses "'/etc/passwd' is no model: neither built in nor an ONNX file, whose name ends in .onnx; built in: bert-tiny," "a file that is no model" workload /etc/passwd
program=$(realpath "$PODBENCH")
(root=$PWD && cd "$work" && echo "[recipe]" >mine.ini && PODBENCH_ROOT=$root "$program" run mine >out 2>err)
grep -q "^podbench: no recipe 'mine' in .*; to read the file in this folder, name it with its ending: mine.ini$" "$work/err"
result $? "a file here without .ini" "$(cat "$work/err")"
refuses "$recipe.ini: is no file here; the published run of this name is asked for without .ini: $recipe" "a published run with .ini" run "$recipe.ini"
refuses "run: '-v' is no option; all but -V and -? begin with two dashes: root, format," "a short option" run -v "$recipe"
refuses "'1.5Ghz' is not in Hz: small and capital letters differ; write 1.5GHz" "a unit in other letters" run "$recipe" --set machine.clock_hz=1.5Ghz
printf '%s\n' "; $(head -c 5000 /dev/zero | tr '\0' x)" | cat workloads/recipes/$recipe.ini - >"$work/long.ini"
run run "$work/long.ini"
gives 0 "throughput: " "a comment of any length"

# The same number in the same unit: what fit, run and the message of a run that does not fit say.
run fit "$recipe" --set parallel.micro_batch=12
short=$(sed -n 's/^fits: NO (.*), \(.* [kM]B\) too many.*/\1/p' "$work/out")
run run "$recipe" --set parallel.micro_batch=12
[ -n "$short" ] && grep -q "^fits: NO (.*), $short too many" "$work/out"
result $? "one unit for one number" "fit: $short; $(grep ^fits "$work/out" "$work/err")"

run check --root tests/root
tail -1 "$work/out" >"$work/last"
grep -qE "^(PASSED|FAILED): [0-9]+ judged by their tolerance, [0-9]+ within it( \([0-9]+ by one above 10 %, which is no agreement\))?, [0-9]+ outside; [0-9]+ for context, [0-9]+ not simulated$" "$work/last"
result $? "check ends with its verdict" "$(cat "$work/last")"
rows=$("$PODBENCH" check --root tests/root --format csv 2>/dev/null | tail -n +2 | wc -l)
counts=$(sed 's/ ([^)]*)//; s/[^0-9 ]//g' "$work/last" | awk '{ print ($2 + $3) == $1 ? $1 + $4 + $5 : "sum of verdicts is wrong" }')
[ "$rows" = "$counts" ]
result $? "every row is in one of its counts" "$rows rows, counted $counts: $(cat "$work/last")"

# A machine of one's own.
here=$PWD program=$(realpath "$PODBENCH")
mine() { (cd "$work" && PODBENCH_ROOT=$here "$program" "$@" >out 2>err </dev/null); status=$?; }
mine machine bow-pod16 --copy mine
gives 0 "change values and their sources, then: podbench run RECIPE --set recipe.system=mine.csv" "a machine is copied"
for part in mine:bow-pod16 mine-board:bow-2000 mine-chip:bow; do
    diff "$work/${part%:*}.csv" "system-model/specs/${part#*:}.csv" >"$work/diff"
    [ "$(grep -c '^[<>]' "$work/diff")" -le 2 ]
    result $? "its sheet ${part%:*} is that of ${part#*:}, but for the part it names" "$(cat "$work/diff")"
done
rate() { sed -n 2p "$work/out" | cut -d, -f6; }
mine run "$recipe" --set recipe.system=mine.csv --format csv
same=$(rate)
mine run "$recipe" --format csv
[ -n "$same" ] && [ "$same" = "$(rate)" ]
result $? "and predicts the same" "$same, $(rate)"
mine machine bow-pod16 --copy mine
gives 2 "machine: mine.csv is there already; take another name" "nothing is replaced"
mine machine bow --copy a/b
gives 2 "--copy a/b: want a name without a folder or an ending, as in mine" "a path is no name"

# Words that answers use.
missing=
for word in replica micro-batch stage stash RTS "I/O tiles" bubble turn AMP; do
    "$PODBENCH" list words | grep -q "^$word " || missing="$missing $word"
done
[ -z "$missing" ] && "$PODBENCH" list words --format markdown | cmp -s - docs/glossary.md && "$PODBENCH" --help | grep -q "podbench list words"
result $? "words are explained, and help says where" "$missing"
done_testing
