#!/bin/sh
# What is no regular file, or larger than any: pipes that no one writes or reads, devices without an end, sparse files, links to nothing,
# folders of such. Every command and option that takes a file refuses each at once and says so; nothing waits, or takes a place.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
id=vendor-c600-resnet50-b1-poprt
mkdir "$work/recipes" "$work/folder"
cp workloads/recipes/$id.ini "$work/recipes/"
cd "$work" || exit 1
"$PODBENCH" bench --recipes recipes --out run >/dev/null 2>&1
mkfifo pipe folder/a.ini folder/b.csv
truncate -s 5G sparse
ln -s nothing link
ln -s /dev/zero endless
ln -s /dev/full full
for kind in pipe sparse link endless folder; do
    for suffix in ini csv onnx; do ln -s $kind $kind.$suffix; done
done
mkdir torn && cp run/rows.csv run/check.csv torn/ && mkfifo torn/manifest.json

reads="run X.ini,explain X.ini,plan X.ini,timeline X.ini,diff X.ini $id,diff $id X.ini,search X.ini,sweep X.ini --over parallel.micro_batch=1
run $id --set recipe.workload=X.onnx,run $id --set recipe.system=X.csv,machine X.csv,workload X.onnx,list recipes --root X
sweep $id --from X,merge X,merge X X,check --expect X --root $PODBENCH_ROOT/tests/root,check --published X,validate --published X.csv,bench --published X.csv --recipes recipes --out o
bench --recipes X --out o,check X,validate X,plot X,report X,compare X,compare run X,compare run --baseline X,baseline X --reason r --baseline base,watch X.csv
record X --baseline o,record run --from X,history step_time_s --from X.csv,history step_time_s --baseline X,score X,compare-logs X"
writes="timeline $id --trace X,sweep $id --over parallel.micro_batch=1 --out X,init X,bench --recipes recipes --out X
run mlperf-v2.0-closed-bow-pod16-resnet50 --runs 2 --mllog X,baseline run --reason r --baseline X,record run --from X"
runs="check X,validate X,plot X,report X,compare X,compare run X,compare X run,compare run --baseline X,baseline X --reason r --baseline base,record X --baseline o"

# COMMANDS NAME FILE... Status 1 or 2 at once, and something said; the file is there still.
refused() {
    commands=$(echo "$1" | tr , '\n') name=$2 faults=
    shift 2
    for file in "$@"; do
        what=$(stat -c %F:%s "$file")
        faults="$faults$(echo "$commands" | sed "s/\bX\b/$file/g" | while read -r command; do
            # shellcheck disable=SC2086
            timeout 120 "$PODBENCH" $command >out 2>err </dev/null
            status=$?
            { [ $status -eq 1 ] || [ $status -eq 2 ]; } && [ -s err ] || echo "status $status: $command: $(head -c 200 err)"
        done)"
        [ "$(stat -c %F:%s "$file")" = "$what" ] || faults="$faults $file is no longer what it was"
    done
    [ -z "$faults" ]
    result $? "$name" "$faults"
}
refused "$reads" "no command reads what is no file, or too large a one" pipe endless sparse link folder
refused "$writes" "no command writes what cannot be written whole, or waits for a reader" pipe full
refused "$runs" "no command reads a run whose manifest is a pipe" torn
# What cannot be reached is not taken as absent.
printf 'commit,value\na,1\nb,2\n' >series.csv
ln -s series.accepted.csv series.accepted.csv
refuses "series.accepted.csv: Too many levels" "a file of acceptances that cannot be reached is no absent one" watch series.csv --better higher
mkdir root root/system-model
for folder in plots results workloads harness; do ln -s "$PODBENCH_ROOT/$folder" root/; done
cp -r "$PODBENCH_ROOT/system-model/specs" root/system-model/
ln -sf fitted-chip.csv root/system-model/specs/fitted-chip.csv
refuses "fitted-chip.csv: Too many levels" "nor are fitted constants replaced by unfitted ones" run $id --root root
: >real.csv
: >real.json
ln -s real.csv rows.csv
ln -s real.json trace.json
"$PODBENCH" sweep $id --over parallel.micro_batch=1 --out rows.csv >/dev/null 2>&1
"$PODBENCH" timeline $id --trace trace.json >/dev/null 2>&1
[ -h rows.csv ] && [ -h trace.json ] && [ -s real.csv ] && [ -s real.json ]
result $? "what a link stands for is written, and the link stays"
done_testing
