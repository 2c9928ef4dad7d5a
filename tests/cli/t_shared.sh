#!/bin/sh
# What several programs use at once, and what one may not have: locks, descriptors, a folder that may not be written to. Each says which it is.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
id=vendor-c600-resnet50-b1-poprt
mkdir "$work/recipes"
cp workloads/recipes/$id.ini "$work/recipes/"
cd "$work" || exit 1
"$PODBENCH" bench --recipes recipes --out run >/dev/null 2>&1

# ---- a sweep whose rows someone else is writing: it is no interrupted one
if command -v flock >/dev/null 2>&1; then
    : >rows.csv.part
    for resume in "" --resume; do
        # shellcheck disable=SC2086
        flock rows.csv.part "$PODBENCH" sweep $id --over parallel.micro_batch=1,2 --out rows.csv $resume >out 2>err
        [ $? -eq 2 ] && [ "$(cat err)" = "podbench: rows.csv.part: another podbench is writing it" ]
        result $? "rows that are being written${resume:+, with $resume}" "$(cat err)"
    done
    rm rows.csv.part
else
    result 0 "rows that are being written # SKIP no flock(1) here"
fi
exec 3<&- 4<&- # flock(1) and make(1) leave theirs open
# ---- no descriptor left: neither a run that is not there, nor one that is not whole
if command -v prlimit >/dev/null 2>&1; then
    for command in "check run" "report run" "baseline run --reason x --baseline base"; do
        # shellcheck disable=SC2086
        prlimit --nofile=4 "$PODBENCH" $command >out 2>err </dev/null
        [ $? -eq 2 ] && [ "$(cat err)" = "podbench: run/manifest.json: Too many open files" ]
        result $? "too many files for: $command" "$(cat err)"
    done
else
    result 0 "too many files # SKIP no prlimit(1) here"
fi
# ---- a table, or a manifest, of another user
as=
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 755 "$work"
if $as "$PODBENCH" list machines >/dev/null 2>&1; then
    for file in /rows.csv /manifest.json ""; do
        mode=$(stat -c %a "run$file")
        chmod 0 "run$file"
        $as "$PODBENCH" check run >out 2>err
        [ $? -eq 2 ] && [ "$(cat err)" = "podbench: run$file: Permission denied" ]
        result $? "run$file, which may not be read" "$(cat err)"
        chmod "$mode" "run$file"
    done
else
    result 0 "what may not be read # SKIP there is no other user here, or it may not read the source"
fi
# ---- gnuplot that does not start is not a missing one
mkdir bin
printf '#!/bin/sh\necho "gnuplot: no room for it" >&2\nexit 127\n' >bin/gnuplot
chmod +x bin/gnuplot
PATH=$work/bin:$PATH "$PODBENCH" plot run >out 2>err
[ $? -eq 2 ] && grep -q 'gnuplot failed: gnuplot: no room for it$' err
result $? "a gnuplot that does not start says why" "$(cat err)"
chmod -x bin/gnuplot
PATH=$work/bin "$PODBENCH" plot run >out 2>err
[ $? -eq 2 ] && grep -q 'gnuplot failed: Permission denied$' err
result $? "one that may not be started, too" "$(cat err)"
# ---- what stands where a folder is wanted is not written over, and is told before the work
cp run/rows.csv rows.before
for command in report plot "baseline --reason x --baseline base"; do
    refuses "run/rows.csv: is a table; want the folder of a run" "a table is no run to put something beside: $command" $command run/rows.csv
done
cmp -s run/rows.csv rows.before
result $? "and stays"
for command in "bench --recipes recipes --out file" "plot run" "init file" "run mlperf-v2.0-closed-bow-pod16-resnet50 --runs 2 --mllog logs"; do
    rm -rf run/figures logs && mkdir -p logs/podbench-simulated
    : >file
    : >run/figures
    : >logs/podbench-simulated/systems
    # shellcheck disable=SC2086
    "$PODBENCH" $command >out 2>err
    [ $? -eq 2 ] && tail -n 1 err | grep -q 'is there, and is no folder\|file/recipes: cannot be made: Not a directory' && [ -f file ] && [ -f run/figures ]
    result $? "a file where a folder is wanted: $command" "$(cat err)"
done
rm run/figures
# ---- help is the same whatever argp is told by the environment
"$PODBENCH" run --help >help
ARGP_HELP_FMT=rmargin=1 timeout 20 "$PODBENCH" run --help | cmp -s - help
result $? "help is the same in every environment"
done_testing
