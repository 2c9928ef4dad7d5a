#!/bin/sh
# Sweeps: rows are what run gives; the same for any number of threads, shards and interruptions; a bad configuration is a row.
. tests/tap.sh

bert=mlperf-v1.1-closed-ipu-pod16-bert-large resnet=mlperf-v1.1-closed-ipu-pod16-resnet50
# 80 configurations
grid="--over parallel.replicas=1..4 --over parallel.gradient_accumulation=10..100+10 --over parallel.schedule=popart,sequential"
cells() { # ROW - those of the result
    cut -d, -f"$1"-
}

run sweep $bert $grid
[ "$status" -eq 0 ] && cp "$work/out" "$work/whole.csv" && [ "$(wc -l <"$work/out")" -eq 81 ]
result $? "one row per configuration, and a header" "$(head -c 400 "$work/err")"
grep -q '^podbench: 80 configurations: ' "$work/err"
result $? "how many fit is said"

run run $bert --set parallel.replicas=3 --set parallel.gradient_accumulation=70 --set parallel.schedule=sequential --format csv
sed -n 2p "$work/out" | sed 's/\(,[^,]*\)\{6\}$//' >"$work/one"      # without provenance, notes and interval, which are columns of their own
grep ',3,70,sequential,' "$work/whole.csv" | cells 16 | sed 's/\(,[^,]*\)\{3\}$//' | cmp -s - "$work/one"
result $? "a row is what run gives" "$(cat "$work/one"; grep ',3,70,sequential,' "$work/whole.csv" | cells 16)"

for jobs in 1 2 7; do
    run sweep $bert $grid --jobs $jobs
    cmp -s "$work/out" "$work/whole.csv"
    result $? "$jobs threads: the same bytes"
done
PODBENCH_MEMO=off "$PODBENCH" sweep $bert $grid 2>/dev/null | cmp -s - "$work/whole.csv"
result $? "nothing remembered: the same bytes"

# ---- what is bad

run sweep $bert nowhere --over parallel.replicas=1,99,2 --over hosts.count=1
[ "$status" -eq 0 ] && [ "$(grep -c ',refused,' "$work/out")" -eq 4 ] && [ "$(grep -c ',1,fits,,' "$work/out")" -eq 2 ]
result $? "bad configurations and a bad recipe are rows, the others stand" "$status $(cut -c1-200 "$work/out")"
grep -q "^2,6,[0-9a-f]\{16\},$bert,99,1,refused,.*99 replicas of 4 IPUs want 396" "$work/out"
result $? "a refusal says its reason"
refuses "sweep: --set parallel.replicass=: unknown key in [parallel]; did you mean 'replicas'" "a key that does not exist is refused once" \
    sweep $bert --over parallel.replicass=1,2 --out "$work/refused.csv"
refuses "every configuration was refused, the first because: --set : want section.key=value" "an override without a text is refused, as run does" \
    sweep $bert --over parallel.replicas=1,2 --set '' --out "$work/refused-too.csv"
rm -f "$work"/refused*
refuses "no key to sweep" "a sweep of nothing is refused" sweep $bert
refuses "is swept as well; leave one of them out" "a key that is set and swept is refused" sweep $bert $grid --set parallel.replicas=3
refuses "a shard wants --out FILE" "a shard on stdout is refused" sweep $bert $grid --shard 1/2
run sweep $bert --over parallel.replicas=1 --jobs 1024
[ "$status" -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 2 ]
result $? "as many threads as there may be"
refuses "jobs: 5000 is outside" "too many threads are refused" sweep $bert $grid --jobs 5000
run sweep $resnet --over parallel.schedule=popart,sequential
grep -q "parallel.schedule has no effect" "$work/err"
result $? "a key without effect is told"
run sweep $resnet --over machine.gateway_bytes_per_s=1e9,2e9
[ "$(grep -c ',fits,.*machine.gateway_bytes_per_s has no effect in the first configuration,' "$work/out")" -eq 2 ]
result $? "and so is a sheet's value, in each row" "$(cat "$work/out")"

run run $bert nowhere $resnet --format json
[ "$status" -eq 2 ] && [ "$(grep -c '^    "id": ' "$work/out")" -eq 2 ] && grep -q "^podbench: no recipe 'nowhere'" "$work/err"
result $? "run: a bad recipe is told and does not lose the others" "$status $(cat "$work/err")"

# ---- what is named twice

cp workloads/recipes/$resnet.ini "$work/own.ini" && ln "$work/own.ini" "$work/other.ini"
file=workloads/recipes/$bert.ini
refuses "podbench: sweep: $bert is named twice; name it once" "a recipe that is named twice is refused" sweep $bert $resnet $bert --over parallel.replicas=1,2
refuses "podbench: sweep: $bert and ./$file are the same; name it once" "by two spellings too" sweep $bert $resnet ./$file --over parallel.replicas=1,2
refuses "podbench: run: $file and $bert are the same; name it once" "run refuses it too" run $file $bert
refuses "podbench: run: $work/own.ini and $work/other.ini are the same; name it once" "two names of one file" run "$work/own.ini" "$work/other.ini"
refuses "podbench: run: nowhere is named twice; name it once" "a name of nothing" run nowhere nowhere
refuses "podbench: --over: parallel.micro_batch=2 and parallel.micro_batch=02 are the same; name it once" "search refuses a value that is named twice" \
    search $bert --over parallel.micro_batch=2,3,02
refuses "podbench: merge: $work/whole.csv and $work/./whole.csv are the same; name it once" "a part that is named twice" \
    merge "$work/whole.csv" "$work/./whole.csv"
refuses "podbench: lint: tests/bad and ./tests/bad are the same; name it once" "logs that are named twice" lint tests/bad results ./tests/bad

printf 'parallel.replicas,parallel.gradient_accumulation\n1,10\n2,\n' >"$work/rows.csv"
run sweep $bert --from "$work/rows.csv" --over parallel.schedule=popart,sequential --format json
[ "$status" -eq 0 ] && [ "$(grep -c '^{"configuration":[1-4],"of":4,"sweep":"[0-9a-f]\{16\}","recipe":' "$work/out")" -eq 4 ] &&
    sed -n 3p "$work/out" | grep -q '"settings":{"parallel.replicas":"2","parallel.schedule":"popart"},"status":"fits","reason":null,"notes":"","id":'
result $? "settings from a table; JSON is an object a line" "$(cut -c1-300 "$work/out")"

# ---- interrupted

run sweep $bert $grid --out "$work/a.csv"
cmp -s "$work/a.csv" "$work/whole.csv" && [ ! -e "$work/a.csv.part" ]
result $? "--out has the same bytes"
run sweep $bert $grid --out "$work/a.csv" --resume
gives 0 "is already complete" "--resume of a whole sweep does nothing"
mkfifo "$work/pipe"
refuses "is not a regular file; leave out --out to print the rows" "nothing takes the place of a pipe or a device" sweep $bert $grid --out "$work/pipe"
[ -p "$work/pipe" ] && [ ! -e "$work/pipe.part" ]
result $? "the pipe is still one"
for n_bytes in 0 100 700 30000; do
    rm -f "$work/a.csv"
    head -c $n_bytes "$work/whole.csv" >"$work/a.csv.part"
    run sweep $bert $grid --out "$work/a.csv" --resume
    cmp -s "$work/a.csv" "$work/whole.csv"
    result $? "cut after $n_bytes bytes it goes on, nothing lost or doubled" "$(cat "$work/err")"
done
rm "$work/a.csv"
head -c 20000 "$work/whole.csv" >"$work/a.csv.part"
refuses "go on with --resume, or remove it" "what an interrupted sweep left is not overwritten" sweep $bert $grid --out "$work/a.csv"
refuses "is of sweep" "another sweep does not go on" sweep $bert $grid --set machine.clock_hz=1.25e9 --out "$work/a.csv" --resume
rm "$work/a.csv.part"
long="--over parallel.replicas=1..4 --over parallel.gradient_accumulation=10..1600"
run sweep $bert $long --out "$work/long.csv"
"$PODBENCH" sweep $bert $long --out "$work/killed.csv" >/dev/null 2>&1 &
pid=$!
while [ "$(cat "$work/killed.csv.part" 2>/dev/null | wc -l)" -lt 100 ] && [ ! -e "$work/killed.csv" ]; do sleep 0.02; done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
left=$(cat "$work/killed.csv.part" 2>/dev/null | wc -l)
run sweep $bert $long --out "$work/killed.csv" --resume
cmp -s "$work/killed.csv" "$work/long.csv"
result $? "killed after $left rows it goes on, nothing lost or doubled" "$(cat "$work/err")"

# ---- shards

joins() { # NAME - the parts in $work/p
    run merge "$work"/p/*.csv --out "$work/merged.csv"
    [ "$status" -eq 0 ] && cmp -s "$work/merged.csv" "$work/whole.csv"
    result $? "$1" "$(ls "$work/p"; cat "$work/err")"
}
again() {
    rm -rf "$work/p" "$work/merged.csv"
    mkdir "$work/p"
}
again
for i in 1 2 3; do run sweep $bert $grid --shard $i/3 --out "$work/p/s.csv"; done
joins "three shards are the whole"
cp "$work/p/s.2-of-3.csv" "$work/two.csv"
refuses "as " "a part twice is refused" merge "$work"/p/*.csv "$work/two.csv" --out "$work/no.csv"
rm "$work/p/s.2-of-3.csv"
refuses "configurations 28 to 54 are missing between" "a missing part is refused" merge "$work"/p/*.csv --out "$work/no.csv"
run sweep $bert $grid --shard 2/3 --out "$work/p/s.csv" --set hosts.count=2
refuses "is of sweep" "a part of another sweep is refused" merge "$work"/p/*.csv --out "$work/no.csv"
[ ! -e "$work/no.csv" ]
result $? "a refused merge leaves no file"

again
if command -v mpirun >/dev/null 2>&1; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        mpirun --oversubscribe -n 3 "$PODBENCH" sweep $bert $grid --jobs 1 --out "$work/p/s.csv" >"$work/mpi" 2>&1 || cat "$work/mpi" | sed 's/^/# /'
    grep -q 'shard 3 of 3, by ' "$work/mpi" && joins "mpirun: each rank takes its shard"
    [ -e "$work/merged.csv" ] || result 1 "mpirun: each rank takes its shard" "$(cat "$work/mpi")"
else
    echo "# skipped: mpirun is not here (apt-get install openmpi-bin): the shards of its ranks are not tried"
fi
again
if command -v parallel >/dev/null 2>&1; then
    seq 4 | parallel -j2 "$PODBENCH" sweep $bert "$(echo "$grid" | sed 's/\*/\\*/g')" --jobs 1 --shard /4 --out "$work/p/s.csv" '#' {} >"$work/gnu" 2>&1
    joins "GNU parallel: each job takes its shard"
else
    echo "# skipped: GNU parallel is not here (apt-get install parallel): the shards of its jobs are not tried"
fi

# A Slurm of one node, for this test alone.
start_slurm() {
    slurm=$work/slurm
    mkdir "$slurm" "$slurm/state" "$slurm/spool"
    cat >"$slurm/slurm.conf" <<END
ClusterName=podbench
SlurmctldHost=$(hostname)(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmctldPort=$((20000 + $$ % 10000))
SlurmdPort=$((30000 + $$ % 10000))
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/ctld.pid
SlurmdPidFile=$slurm/d.pid
SlurmctldLogFile=$slurm/ctld.log
SlurmdLogFile=$slurm/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_res
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=1
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$(hostname) Default=YES State=UP OverSubscribe=FORCE:8
END
    export SLURM_CONF="$slurm/slurm.conf"
    slurmctld -c && slurmd || return 1
    for i in 1 2 3 4 5 6 7 8 9 10; do
        sinfo -h -t idle 2>/dev/null | grep -q idle && return 0
        sleep 0.5
    done
    return 1
}
stop_slurm() {
    for file in "$slurm/d.pid" "$slurm/ctld.pid"; do
        pid=$(cat "$file" 2>/dev/null) && kill "$pid" || continue
        for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2>/dev/null && sleep 0.3; done
    done
}

again
if [ "$(id -u)" -eq 0 ] && command -v slurmctld >/dev/null 2>&1 && command -v slurmd >/dev/null 2>&1 && command -v srun >/dev/null 2>&1; then
    if start_slurm; then
        timeout 60 srun -n2 --overcommit "$PODBENCH" sweep $bert $grid --jobs 1 --out "$work/p/s.csv" >"$work/srun" 2>&1
        grep -q 'shard 2 of 2, by srun' "$work/srun" && joins "srun: each task takes its shard"
        [ -e "$work/merged.csv" ] || result 1 "srun: each task takes its shard" "$(cat "$work/srun")"
        again
        printf '#!/bin/sh\n%s sweep %s %s --jobs 1 --out %s\n' "$PODBENCH" $bert "$(echo "$grid" | sed 's/\*/\\*/g')" "$work/p/s.csv" >"$work/job"
        sbatch --array=3-7:2 --chdir="$PWD" -o "$work/slurm.%a" "$work/job" >/dev/null 2>&1
        for i in $(seq 100); do
            [ "$(ls "$work/p" | grep -c 'of-3\.csv$')" -lt 3 ] || break
            sleep 0.3
        done
        joins "sbatch --array: each task takes its shard"
    else
        result 1 "a Slurm of one node starts" "$(tail -n 3 "$slurm"/*.log)"
    fi
    stop_slurm
else
    echo "# skipped: Slurm is not here, or this is not root (apt-get install slurmctld slurmd slurm-client): the shards of its tasks are not tried"
fi
# Of several keys on one axis, and on several, each that changes nothing is told.
run sweep mlperf-v2.0-closed-bow-pod16-resnet50 --over parallel.micro_batch=16 --zip parallel.gradient_accumulation=10 \
    --zip parallel.embedding_serial_steps=2 --zip parallel.replicas=16
{ gives 0 "podbench: mlperf-v2.0-closed-bow-pod16-resnet50: parallel.embedding_serial_steps has no effect in the first configuration" "an idle key among others is told"; }
[ "$(grep -c 'has no effect in the first configuration' "$work/err")" -eq 1 ]
result $? "and the others are not" "$(cat "$work/err")"
# A sheet's value on one IPU whose links carry nothing: told if none of its values changes anything; and what is set for all configurations.
c600=vendor-c600-resnet50-b1-poprt first="has no effect in the first configuration"
run sweep $c600 --over machine.link_bytes_per_s=1e9,2e9 --over machine.clock_hz=1.5e9,1.6e9 --over machine.n_links=1 \
    --set machine.link_efficiency=0.9 --set machine.board_power_w=190 --set parallel.embedding_serial_steps=4
gives 0 "podbench: $c600: parallel.embedding_serial_steps $first" "an idle key that is set for all configurations is told"
for key in machine.link_bytes_per_s machine.n_links machine.link_efficiency; do
    grep -q "^podbench: $c600: $key $first\$" "$work/err"
    result $? "so is a value of a sheet: $key" "$(cat "$work/err")"
done
[ "$(grep -c "$first" "$work/err")" -eq 4 ]
result $? "but neither a clock whose first value is the sheet's own, nor power" "$(cat "$work/err")"
# A disk that is full after the first rows: what is told to be there is there, whole, and not nothing.
(
    ulimit -f 200
    exec "$PODBENCH" sweep mlperf-v2.0-closed-bow-pod16-resnet50 --over parallel.micro_batch=1..12 --over parallel.gradient_accumulation=1..9 --format json
) >"$work/rows" 2>"$work/err"
[ $? -eq 2 ] && took=$(sed -n 's/^podbench: standard output took \([0-9]*\) of 108 configurations and no more: File too large$/\1/p' "$work/err") &&
    [ "${took:-0}" -gt 0 ] && [ "$took" -lt 108 ] && [ "$(grep -c '}$' "$work/rows")" -ge "$took" ]
result $? "a full disk is told, and how much it took" "$(cat "$work/err")"
# ---- for people

run sweep $resnet --over parallel.micro_batch=8,16,12 --top 2
[ "$status" -eq 0 ] && [ "$(awk '{ print $1 }' "$work/out" | tr '\n' ' ')" = "parallel.micro_batch 16 12 " ]
result $? "--top: the best rows as a table" "$(cat "$work/out" "$work/err")"
refuses "a sweep has no column ''; known: " "columns without a name" sweep $resnet --over parallel.micro_batch=8 --columns ,
refuses "-: is not a regular file; leave out --out to print the rows" "rows to standard output" sweep $resnet --over parallel.micro_batch=8 --out -
run sweep $resnet --over parallel.micro_batch=8,16,12 --sort step_time_s --columns 'parallel.micro_batch, ipus'
[ "$status" -eq 0 ] && [ "$(awk '{ print $1, $2 }' "$work/out" | tr '\n' ' ')" = "parallel.micro_batch ipus 8 16 12 16 16 16 " ]
result $? "--sort and --columns" "$(cat "$work/out" "$work/err")"
run sweep $resnet --over parallel.micro_batch=64,20 --top 1
grep -q '^ *20  yes' "$work/out"
result $? "a row that does not fit comes after those that do" "$(cat "$work/out")"
refuses "a sweep has no column 'step'; did you mean 'step_time_s'" "a column that is not there" sweep $resnet --over parallel.micro_batch=8 --columns step
refuses "make a table for people" "a table is not written to a file" sweep $resnet --over parallel.micro_batch=8 --top 1 --out "$work/top.csv"
run sweep $resnet --over parallel.embedding_serial_steps=2,4 --over parallel.available_memory=0.1..0.3+0.1 --format csv
[ "$(grep -c ',fits,,no effect: parallel.embedding_serial_steps,' "$work/out")" -eq 6 ] && [ "$(grep -c ',0\.3,fits,' "$work/out")" -eq 2 ]
result $? "a key without effect is in every row; labels of a range are round" "$(cut -c1-200 "$work/out")"
open=vendor-bow-pod64-bert-large-ph1-pytorch
run sweep $open --over parallel.micro_batch=2 --format json
swept=$(grep -o '"interval_low":[^,]*,"interval_high":[^,]*' "$work/out" | tr -d ' ')
run run $open --set parallel.micro_batch=2 --format json
[ -n "$swept" ] && [ "$swept" = "$(tr -d ' \n' <"$work/out" | grep -o '"interval_low":[^,]*,"interval_high":[^,]*')" ]
result $? "the interval is that of run, with what the recipe leaves open" "$swept"
done_testing
