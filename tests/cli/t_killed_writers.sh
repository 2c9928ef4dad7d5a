#!/bin/sh
# What else writes, killed before its system calls that change a file: a sweep goes on where it stopped, a merge, a baseline and a history
# are as before or as after, and so are a package, a project and each file that others write.
# KILL_EVERY=1 kills at every call, where otherwise samples of many are tried, and commands that take longer too.
. tests/tap.sh
. tests/killed.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
id=vendor-c600-resnet50-b1-poprt
cp -r workloads/recipes/$id.ini "$work/$id.ini"
cd "$work" || exit 1
mkdir recipes keep
mv $id.ini recipes/

# STATE (folder that the command starts from), CHECK (function: status 0 when all is well), EVERY (so many'th call), then the command.
# Sets n_killed and torn.
kill_everywhere() {
    state=$1 check=$2 often=$3
    shift 3
    n_killed=0 torn=
    start_over
    (cd now && changing_calls "$often" "$PODBENCH" "$@") >points
    while read -r call at; do
        start_over
        (cd now && killed_at "$call" "$at" "$PODBENCH" "$@") 2>/dev/null || torn="$torn $call:$at(not killed)"
        n_killed=$((n_killed + 1))
        "$check" "$@" </dev/null || torn="$torn $call:$at($(head -c 200 err))"
    done <points
}
start_over() { rm -rf now && cp -r "$state" now; }
again() { (cd now && "$PODBENCH" "$@" >../out 2>../err </dev/null) 2>/dev/null; }
same() { diff -r -x '*.podbench-*' now "$1" >difference 2>&1 || { cat difference >>err; return 1; }; }

# ---- sweep
mkdir empty
sweep="sweep $id --over parallel.micro_batch=1,2,3 --jobs 1 --out s.csv"
mkdir swept && (cd swept && "$PODBENCH" $sweep 2>/dev/null)
goes_on() { again "$@" --resume && same swept; }
kill_everywhere empty goes_on 1 $sweep
[ -z "$torn" ] && [ "$n_killed" -ge 4 ]
result $? "a sweep killed at each of $n_killed calls goes on to the same bytes" "$torn"

# ---- baseline: another run in its place, never without its reason, never torn
"$PODBENCH" bench --recipes recipes --out first >/dev/null 2>&1
sed -i 's/^micro_batch = 1$/micro_batch = 2/' recipes/$id.ini
"$PODBENCH" bench --recipes recipes --out second >/dev/null 2>&1
mkdir before && "$PODBENCH" baseline first --baseline before/base --reason first >/dev/null
cp -r before after && "$PODBENCH" baseline second --baseline after/base --reason second >/dev/null
is_baseline() { # before or after; and recording again gives what it should
    "$PODBENCH" compare --baseline now/base first >out 2>err
    [ $? -ne 2 ] || { n_between=$((n_between + 1)); grep -q "no baseline" err && [ ! -e now/base/manifest.json ]; again baseline ../second --baseline base --reason second; } || return 1
    cmp -s now/base/rows.csv before/base/rows.csv || { cmp -s now/base/rows.csv after/base/rows.csv && grep -q second now/base/reasons.csv; } || return 1
    again baseline ../second --baseline base --reason second && cmp -s now/base/rows.csv after/base/rows.csv && cmp -s now/base/manifest.json after/base/manifest.json
}
n_between=0
kill_everywhere before is_baseline 1 baseline ../second --baseline base --reason second
[ -z "$torn" ] && [ "$n_killed" -ge 8 ] && [ "$n_between" -le 3 ]
result $? "a baseline killed at each of $n_killed calls is one or the other, or, $n_between times, refused" "$torn"

cp -r before/base changed
run bench --recipes recipes --out changed
gives 2 "podbench: changed: is a baseline, which only 'podbench baseline RUN --reason WHY' replaces" "no run takes a baseline's place"
diff -r changed before/base >difference
result $? "which stays as it is" "$(cat difference)"
refuses "is a table; want the folder of a run" "a table is no baseline" baseline second/rows.csv --baseline before/base --reason table

# ---- history
"$PODBENCH" record first --baseline before/base --label one >/dev/null
cp -r before after2 && "$PODBENCH" record second --baseline after2/base --label two >/dev/null
is_history() { # all of the new point or none; said again, it is there once
    n_points=$("$PODBENCH" history throughput_samples_per_s --baseline now/base --format csv 2>err | grep -c "^[^,]*,.*$id\|$id")
    [ "$n_points" -ge 1 ] && [ "$n_points" -le 2 ] || return 1
    again record ../second --baseline base --label two || return 1
    [ "$("$PODBENCH" history throughput_samples_per_s --baseline now/base --format csv | wc -l)" -eq 3 ]
}
kill_everywhere before is_history 1 record ../second --baseline base --label two
[ -z "$torn" ] && [ "$n_killed" -ge 2 ]
result $? "a point recorded and killed at each of $n_killed calls is there or not" "$torn"

# ---- a package and a project, written again
submission=podbench-simulated/results/mlperf-v2.0-closed-bow-pod16-resnet50-simulated
package="run mlperf-v2.0-closed-bow-pod16-resnet50 --runs 2 --seed 5 --mllog out --force"
mkdir packed && (cd packed && "$PODBENCH" $package >/dev/null 2>&1)
# Its logs come last, and all at once; what else there is by then is whole.
is_package() {
    [ ! -e now/out/$submission/resnet ] || same packed || return 1
    again "$@"; same packed
}
kill_everywhere empty is_package 6 $package
[ -z "$torn" ] && [ "$n_killed" -ge 6 ]
result $? "a package killed at $n_killed calls is whole or absent, and whole when it is written again" "$torn"
# In the place of another, of more logs, and scaled by another factor: all of one or of the other.
package="run mlperf-v2.0-closed-bow-pod16-bert-large --set training.reference_round=v3.0 --set optimizer.opt_lamb_epsilon=1e-6"
package="$package --set training.samples_to_converge=2580480 --mllog out --force --seed"
logs=out/podbench-simulated/results/mlperf-v2.0-closed-bow-pod16-bert-large-simulated/bert
mkdir seed1 && (cd seed1 && "$PODBENCH" $package 1 --runs 11 >/dev/null 2>&1)
mkdir seed4 && (cd seed4 && "$PODBENCH" $package 4 --runs 10 >/dev/null 2>&1)
is_one_package() {
    diff -r now/$logs seed1/$logs >>err || diff -r now/$logs seed4/$logs >>err || return 1
    diff -x '*.podbench-*' now/out/podbench-simulated/systems seed4/out/podbench-simulated/systems >>err || return 1
    "$PODBENCH" score now/out --format csv 2>/dev/null | grep -c "" | grep -qx 2 || return 1      # what was begun is no second score
    again "$@" && same seed4
}
kill_everywhere seed1 is_one_package 14 $package 4 --runs 10
[ -z "$torn" ] && [ "$n_killed" -ge 6 ] && [ -e seed1/$logs/result_10.txt ] && ! cmp -s seed1/$logs/result_1.txt seed4/$logs/result_1.txt
result $? "a package in the place of another killed at $n_killed calls is one or the other" "$torn"
# A file system that cannot exchange two names has a moment without logs. A writer killed then leaves the old ones under another name.
unexchanged="-e inject=renameat2:error=EINVAL"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0      # the leak sanitizer does not work under strace
export ASAN_OPTIONS
state=seed1 && start_over
# shellcheck disable=SC2086
(cd now && strace -f -qq -o ../calls -e trace=renameat2,rename $unexchanged "$PODBENCH" $package 4 --runs 10 >/dev/null 2>&1)
grep -q INJECTED calls && same seed4
result $? "and where two names cannot be exchanged" "$(cat difference calls)"
n_renames=$(grep -c ' rename(' calls) torn='' n_without=0
for at in $(seq 1 "$n_renames"); do
    start_over
    # shellcheck disable=SC2086
    # The subshell outlives strace and takes what the shell says of its death.
    (cd now && strace -f -qq -o ../calls -e trace=renameat2,rename $unexchanged -e "inject=rename:signal=KILL:when=$at" "$PODBENCH" $package 4 --runs 10 >/dev/null 2>&1; :) 2>/dev/null
    if [ ! -e now/$logs ]; then
        n_without=$((n_without + 1)) between=$at
        "$PODBENCH" score now/out >/dev/null 2>err
        [ "$(grep -c 'is not finished: its writer is at work, or was killed: not read' err)" -eq 2 ] || torn="$torn $at:not told"
        diff -r now/$logs.podbench-*.old seed1/$logs >>err || torn="$torn $at:lost"
    fi
    # shellcheck disable=SC2086
    again $package 4 --runs 10 && same seed4 || torn="$torn $at"
done
[ -z "$torn" ] && [ "$n_without" -eq 1 ] && [ "$n_renames" -ge 3 ]
result $? "killed at each of $n_renames renames there, no logs are lost" "$torn $(cat err)"
start_over
# shellcheck disable=SC2086
(cd now && strace -f -qq -o ../calls -e trace=renameat2,rename $unexchanged -e "inject=rename:error=EIO:when=$between+" "$PODBENCH" $package 4 --runs 10 >out.txt 2>../err)
[ $? -eq 2 ] && grep -q '/bert: cannot be written completely: Input/output error$' err && rm now/out.txt && [ ! -e now/$logs ] &&
    find now -name result_10.txt | grep -q '/bert\.podbench-[0-9a-f]*\.old/result_10.txt$'
result $? "logs that can neither be replaced nor put back are not removed" "$(cat err; find now)"
# shellcheck disable=SC2086
again $package 4 --runs 10 && same seed4
result $? "and the next writer goes on" "$(cat difference)"
mkdir made && (cd made && "$PODBENCH" init mine >/dev/null)
is_project() { [ ! -e now/mine ] || same made || return 1; again "$@" || [ -e now/mine ] && same made; }
kill_everywhere empty is_project 4 init mine
[ -z "$torn" ] && [ "$n_killed" -ge 6 ]
result $? "a project killed at $n_killed calls is whole or absent" "$torn"

# ---- commands that write several files: each is as before or as after, and all are as after when it is asked again
# A gnuplot that draws at once.
mkdir bin && printf '#!/bin/sh\necho "<svg/>"\n' >bin/gnuplot && chmod +x bin/gnuplot
PATH=$work/bin:$PATH
mkdir parts && (cd parts && for i in 1 2; do "$PODBENCH" $sweep --shard $i/2 2>/dev/null; done)
mkdir ran && cp -r first ran/run && "$PODBENCH" baseline first --baseline ran/base --reason first >/dev/null
for label in one two; do "$PODBENCH" record first --baseline ran/base --label $label >/dev/null; done
is_whole() {
    for file in $(cd now && find . -type f ! -name '*.podbench-*'); do
        cmp -s "now/$file" "done/$file" || cmp -s "now/$file" "$state/$file" || { echo "$file is torn" >>err; return 1; }
    done
    again "$@" && same done
}
while IFS='|' read -r name from every least command; do
    [ "$every" != slow ] || [ -n "${KILL_EVERY:-}" ] || continue
    rm -rf done
    # shellcheck disable=SC2086
    cp -r "$from" done && (cd done && "$PODBENCH" $command >/dev/null 2>&1)
    # shellcheck disable=SC2086
    kill_everywhere "$from" is_whole "$every" $command
    [ -z "$torn" ] && [ "$n_killed" -ge "$least" ]
    result $? "$name killed at $n_killed calls: each file is as before or as after" "$torn"
done <<END
a merge|parts|1|3|merge s.1-of-2.csv s.2-of-2.csv --out m.csv
a trace|empty|4|3|timeline $id --trace t.json
errors left out|ran|slow|2|validate run --out left
a history drawn|ran|1|4|history throughput_samples_per_s --baseline base --out h.svg
figures|ran|30|2|plot run
a report|ran|slow|2|report run
END
# ---- the first write of each file that keeps a state: nothing or all of it, killed before a call or refused at one
mkdir fresh && cp -r first fresh/run
awk 'BEGIN { print "label,score"; for (i = 0; i < 40; i++) print "c" i "," (i < 30 ? 50 : 40) + i % 3 }' >fresh/scores.csv
is_first() { # what is there is whole, and the same command adds what is not
    for file in $first_files; do
        [ ! -e now/$file ] || cmp -s now/$file done/$file || { echo "$file is torn" >>err; return 1; }
    done
    again "$@"
    for file in $first_files; do        # a line that was there by then is there twice
        [ "$(sort -u now/$file 2>/dev/null)" = "$(sort -u done/$file 2>/dev/null)" ] || { echo "$file differs" >>err; return 1; }
    done
}
first_files='scores.accepted.csv h.csv base/reasons.csv base/rows.csv base/manifest.json base/history.csv'
SOURCE_DATE_EPOCH=1700000000 && export SOURCE_DATE_EPOCH
fail_everywhere() { # CHECK COMMAND...: each call that changes something fails for want of room
    check=$1 n_without_room=0 torn=
    shift
    while read -r call at; do
        start_over
        (cd now && failed_at "$call" "$at" ENOSPC "$PODBENCH" "$@")
        status=$?
        n_without_room=$((n_without_room + 1))
        case $status in 0|2) ;; *) torn="$torn $call:$at(status $status)" ;; esac
        ! grep -q 'Success' err || torn="$torn $call:$at($(cat err))"
        [ -z "$(find now -type d -empty)" ] || torn="$torn $call:$at(an empty folder)"
        "$check" "$@" || torn="$torn $call:$at($(head -c 300 err))"
    done <points
}
while IFS='|' read -r name least command; do
    rm -rf done && cp -r fresh done
    # shellcheck disable=SC2086
    (cd done && "$PODBENCH" $command >/dev/null 2>&1)
    # shellcheck disable=SC2086
    kill_everywhere fresh is_first 1 $command
    [ -z "$torn" ] && [ "$n_killed" -ge "$least" ]
    result $? "the first $name killed at $n_killed calls is whole or absent" "$torn"
    # shellcheck disable=SC2086
    fail_everywhere is_first $command
    [ -z "$torn" ] && [ "$n_without_room" -ge "$least" ]
    result $? "and without room at any of $n_without_room calls" "$torn"
done <<END
acceptance|3|watch scores.csv --better higher --accept wanted
point of a history|3|record run --from h.csv --label one
point beside a baseline|3|record run --baseline base --label one
baseline|8|baseline run --baseline base --reason first
END
: >fresh/scores.accepted.csv
rm -rf now && cp -r fresh now
again watch scores.csv --better higher --accept wanted && [ "$(grep -c '' now/scores.accepted.csv)" -eq 2 ] && again watch scores.csv --better higher
result $? "an empty table of acceptances counts as none" "$(cat err)"
unset SOURCE_DATE_EPOCH

# ---- first sights: of a table of two rows, each line once, whenever it was killed
sighted=sighting/root/results
mkdir -p $sighted/published/ledger $sighted/published/runs $sighted/validity seen
ln -s "$PODBENCH_ROOT/system-model" "$PODBENCH_ROOT/workloads" sighting/root/
for table in links peers mlperf kernels memory vendor; do sed -n '1p;/^vendor-K-FP16-1,/p' "$PODBENCH_ROOT/results/published/$table.csv" >$sighted/published/$table.csv; done
echo "own-1,$id,fits,1,yes=1,0.5,validate,a test,,it ran" >>$sighted/published/memory.csv
cp "$PODBENCH_ROOT/workloads/recipes/$id.ini" seen/
"$PODBENCH" bench --root sighting/root --recipes seen --out sighting/run >/dev/null 2>&1
sight="baseline run --root root --reason first"
rm -rf done && cp -r sighting done && (cd done && "$PODBENCH" $sight >/dev/null 2>&1)
is_sighted() {
    again "$@"
    for file in first-sight.csv ledger/first-memory.csv; do cmp done/root/results/published/$file now/root/results/published/$file >>err 2>&1 || return 1; done
}
kill_everywhere sighting is_sighted 1 $sight
[ -z "$torn" ] && [ "$n_killed" -ge 6 ] && [ "$(cat done/root/results/published/first-sight.csv done/root/results/published/ledger/first-memory.csv | grep -c '^own-1,')" -eq 2 ]
result $? "first sights killed at $n_killed calls are there once" "$torn"

# ---- the tables of intervals and of memory: each is as before or as after, also where there was none
for table in "$PODBENCH_ROOT"/results/published/runs/*; do sed -n 1p "$table" >$sighted/published/runs/"${table##*/}"; done
for folder in validity published/ledger; do echo mine >$sighted/$folder/notes; done
tables="validate run --root root --out root/results/validity"
rm -rf done && cp -r sighting done && (cd done && "$PODBENCH" $tables >/dev/null 2>&1)
kill_everywhere sighting is_whole 1 $tables
[ -z "$torn" ] && [ "$n_killed" -ge 14 ] && [ "$(ls done/root/results/validity | wc -l)" -eq 8 ]
result $? "tables of intervals killed at $n_killed calls are whole or absent" "$torn"
rm -rf now && cp -r done now && rm now/root/results/validity/memory-spread.csv
! again $tables && grep -q "memory-spread.csv: is missing; remove root/results/validity/memory-programs.csv, and 'make baseline' writes both again" err
result $? "one that lacks another is told, with what to do" "$(cat err)"
fail_everywhere is_whole $tables
[ -z "$torn" ] && [ "$n_without_room" -ge 14 ]
result $? "and without room at any of $n_without_room calls" "$torn"
cp -r done written && for table in left-out known-values memory-published; do sed -i '$d' written/root/results/validity/$table.csv; done
kill_everywhere written is_whole 2 $tables
[ -z "$torn" ] && [ "$n_killed" -ge 7 ]
result $? "and in the place of others" "$torn"

# ---- fitted sheets: of a few rows, as a fit of all takes long
root=fitting
published=$root/results/published
mkdir -p $published $root/results/validity
ln -s "$PODBENCH_ROOT/system-model" "$PODBENCH_ROOT/workloads" $root/
ln -s "$PODBENCH_ROOT/results/published/runs" "$PODBENCH_ROOT/results/published/ledger" $published/
for table in links memory peers; do sed -n 1p "$PODBENCH_ROOT/results/published/$table.csv" >$published/$table.csv; done
sed -n '1p;/\.score,/p' "$PODBENCH_ROOT/results/published/mlperf.csv" >$published/mlperf.csv
sed -n '1p;/^vendor-K-FP16-[124],/p' "$PODBENCH_ROOT/results/published/vendor.csv" >$published/vendor.csv
cp "$PODBENCH_ROOT/tests/root/results/published/kernels.csv" $published/
fit="calibrate --root ../$root --out sheets"
mkdir fitted && (cd fitted && "$PODBENCH" $fit 2>/dev/null)
are_sheets() { # none, or all of them
    [ ! -e now/sheets ] || same fitted || return 1
    [ -e now/sheets ] || again "$@" && same fitted
}
kill_everywhere empty are_sheets 3 $fit
[ -z "$torn" ] && [ "$n_killed" -ge 4 ] && [ "$(ls fitted/sheets | wc -l)" -eq 3 ]
result $? "fitted sheets killed at $n_killed calls: all are there, or none" "$torn"
# A closed stream is nobody's: a sheet that took its number took the talk of the fit too.
mkdir deaf && (cd deaf && "$PODBENCH" $fit >&- 2>&- <&-)
diff -r deaf fitted >difference 2>&1
result $? "fitted sheets are the same where the standard streams are closed" "$(head -c 300 difference)"
cd fitted || exit 1
refuses "sheets: is there already, and is not replaced; name a folder that is not there yet" "fitted sheets replace none" $fit
cd .. || exit 1
mkdir few && sed -i '2,$d' $published/mlperf.csv && rm $published/runs && mkdir $published/runs
for table in "$PODBENCH_ROOT"/results/published/runs/*; do sed -n 1p "$table" >$published/runs/"${table##*/}"; done
(cd few && "$PODBENCH" $fit >../out 2>../err)
[ $? -eq 2 ] && grep -q 'too few runs of role calibrate' err && [ -z "$(ls few)" ]
result $? "fitted sheets, of which the last is refused, are not there" "$(ls few; tail -n 1 err)"
done_testing
