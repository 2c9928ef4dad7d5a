#!/bin/sh
# Bad files: missing, empty, truncated, binary, huge; unknown and repeated keys; zero, negative, not a number, overflow.
# Each earns one line and status 2; none leaves half a file. A model that cannot fit is a result.
. tests/tap.sh
root=$work/root
cp -rL tests/root "$root" && chmod -R u+w "$root"
good=workloads/recipes/mlperf-v1.1-closed-ipu-pod16-resnet50.ini
bert=workloads/recipes/mlperf-v1.1-closed-ipu-pod16-bert-large.ini
bad=$work/bad.ini

# ---- recipes
edited() { sed "$1" "$good" >"$bad"; }
refuses "No such file" "recipe: missing file" run "$work/none.ini"
: >"$bad"
refuses "bad.ini" "recipe: empty file" run "$bad"
head -c 120 "$good" >"$bad"
refuses "bad.ini" "recipe: truncated file" run "$bad"
head -c 4096 /dev/urandom | tr 'a-z' '\0' >"$bad"
refuses "bad.ini" "recipe: binary file" run "$bad"
truncate -s 2G "$work/huge.ini"
refuses "huge.ini" "recipe: huge file" run "$work/huge.ini"
mkdir "$work/folder.ini"
refuses "folder.ini" "recipe: a folder" run "$work/folder.ini"
edited 's/^micro_batch *=.*/&\nbananas = 3/'
refuses "bananas" "recipe: unknown key" run "$bad"
edited 's/^micro_batch *=.*/&\n&/'
refuses "micro_batch" "recipe: repeated key" run "$bad"
edited '/^micro_batch *=/d'
refuses "micro_batch" "recipe: missing key" run "$bad"
edited '/^workload *=/d'
refuses "workload" "recipe: missing workload" run "$bad"
for value in 0 -3 nan inf 1e400 99999999999999999999 0x10 '' three 2.5 '4 4'; do
    edited "s/^micro_batch *=.*/micro_batch = $value/"
    refuses "micro_batch" "recipe: micro_batch = '$value'" run "$bad"
    refuses "replicas" "--set parallel.replicas='$value'" run "$good" --set "parallel.replicas=$value"
done
for value in 0 -1 nan 1e400; do
    refuses "sequences_per_pack" "--set data.sequences_per_pack='$value'" run "$bert" --set "data.sequences_per_pack=$value"
done
refuses "sideways" "recipe: unknown value" run "$bert" --set parallel.schedule=sideways
edited 's/^system *=.*/system = ipu-pod17/'
refuses "ipu-pod17" "recipe: unknown system" run "$bad"
edited 's/^workload *=.*/workload = resnet51/'
refuses "resnet51" "recipe: unknown workload" run "$bad"
edited 's/^\[parallel\]/[parallel/'
refuses "bad.ini" "recipe: broken section" run "$bad"
edited '1i stray = 1'
refuses "bad.ini" "recipe: key outside a section" run "$bad"
printf '[recipe]\nid = %05000d\n' 7 >"$bad"
refuses "bad.ini" "recipe: over-long line" run "$bad"
refuses "replicas" "more IPUs than the system has" run "$good" --set parallel.replicas=17
refuses "ipu" "more stages than layers" run "$good" --set parallel.replicas=1 --set parallel.ipus_per_replica=16 \
    --set parallel.layers_per_ipu=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,9
run run "$good" --set parallel.micro_batch=100 --format json
[ "$status" -eq 1 ] && grep -q '"fits": false' "$work/out"
result $? "a model that cannot fit is a result: fits is false, status 1" "$(head -3 "$work/err")"

# ---- spec sheets
sheet=$work/chip.csv
chip=system-model/specs/gc200.csv
key=n_tiles
grep -q "^$key," "$chip" || key=tiles
broken() { sed "$1" "$chip" >"$sheet"; }
refuses "No such file" "sheet: missing" machine "$work/none.csv"
: >"$sheet"
refuses "chip.csv" "sheet: empty" machine "$sheet"
head -c 300 "$chip" >"$sheet"
refuses "chip.csv" "sheet: truncated" machine "$sheet"
printf 'key,value,unit,source\nn_tiles,1\00072,,x\n' >"$sheet"
refuses "chip.csv" "sheet: binary" machine "$sheet"
truncate -s 2G "$work/huge.csv"
refuses "huge.csv" "sheet: huge" machine "$work/huge.csv"
broken "s/^$key,/bananas,/"
refuses "bananas" "sheet: unknown key" machine "$sheet"
broken "s/^$key,.*/&\n&/"
refuses "$key" "sheet: repeated key" machine "$sheet"
broken "/^$key,/d"
refuses "$key" "sheet: missing key" machine "$sheet"
for value in 0 -5 nan 1e400 99999999999999999999 many ''; do
    broken "s/^$key,[^,]*,/$key,$value,/"
    refuses "$key" "sheet: $key of '$value'" machine "$sheet"
done
broken "s/^\($key,[^,]*,[^,]*,\)\(\"[^\"]*\"\|[^,]*\)/\1/"
refuses "$key" "sheet: no source" machine "$sheet"
broken "s/^$key,\([^,]*\),[^,]*,/$key,\1,bananas,/"
refuses "bananas" "sheet: wrong unit" machine "$sheet"
broken '1s/source/sauce/'
refuses "source" "sheet: no source column" machine "$sheet"
printf 'key,value,unit,source\n%s,"1472,,open' "$key" >"$sheet"
refuses "chip.csv" "sheet: unclosed quote" machine "$sheet"

pod=$work/pod.csv
of_pod() { sed "$1" system-model/specs/ipu-pod16.csv >"$pod"; }
of_pod 's/^domain_topology,[a-z]*/domain_topology,none/'
refuses "domain_topology: none, but 16 IPUs" "system: without links" machine "$pod"
refuses "domain_topology: none, but 16 IPUs" "system: without links, in a run" run "$good" --set "recipe.system=$pod"
of_pod '/^domain_topology,/d'
refuses "domain_topology: missing" "system: links not described" machine "$pod"
of_pod 's/^board,[^,]*/board,gc200/'
refuses "want a board" "system: a chip as its board" machine "$pod"
of_pod 's/^board,[^,]*/board,nothing/'
refuses "nothing" "system: a board that is not there" machine "$pod"
of_pod 's/^n_ipus,16/n_ipus,18/'
refuses "n_ipus" "system: chips that fill no board" machine "$pod"

# ---- published tables
table=$work/table.csv
header=id,recipe,metric,value,unit,tolerance,role,source,quote,note
recipe=mlperf-v1.1-closed-ipu-pod16-resnet50
of() { printf '%s\n' "$@" >"$table"; }
refuses "none.csv" "table: missing" check --published "$work/none.csv"
: >"$table"
head -1 results/published/vendor.csv >"$work/header.csv"
refuses "header.csv: holds no figure; want rows below the header" "table: a header alone has not passed" check --published "$work/header.csv"
refuses "table.csv" "table: empty" check --published "$table"
of "$header" "a,$recipe,throughput_samples_per_s,many,samples/s,0.1,validate,s,q,n"
refuses "many" "table: a value that is no number" check --published "$table"
for value in 0 -1 nan 1e400; do
    of "$header" "a,$recipe,throughput_samples_per_s,$value,samples/s,0.1,validate,s,q,n"
    refuses "table.csv:2" "table: a value of $value" check --published "$table"
done
of "$header" "a,$recipe,throughput_samples_per_s,5,samples/s,-0.1,validate,s,q,n"
refuses "table.csv:2" "table: a negative tolerance" check --published "$table"
of "$header" "a,$recipe,throughput_samples_per_s,5,samples/s,0.1,referee,s,q,n"
refuses "referee" "table: an unknown role" check --published "$table"
of "$header" "a,$recipe,throughput_samples_per_s,5,samples/s,0.1,validate,,q,n"
refuses "source" "table: no source" check --published "$table"
of "$header" "a,$recipe,throughput_samples_per_s,5,samples/s,0.1,validate,s,q,n" "a,$recipe,throughput_samples_per_s,5,samples/s,0.1,validate,s,q,n"
refuses "a" "table: a repeated id" check --published "$table"
of "$header" "a,$recipe,throughput_samples_per_s,5"
refuses "table.csv:2" "table: a short row" check --published "$table"
of "id,recipe,metric,value" "a,$recipe,throughput_samples_per_s,5"
refuses "unit" "table: missing columns" check --published "$table"
truncate -s 2G "$work/huge-table.csv"
refuses "huge-table.csv" "table: huge" check --published "$work/huge-table.csv"

# ---- runs, and nothing half written
mkdir "$work/run"
printf 'id,workload\nx,y\n' >"$work/run/rows.csv"
refuses "rows.csv" "run: rows without their columns" check "$work/run/rows.csv"
refuses "the run is incomplete" "run: a folder without a manifest" compare "$work/run" "$work/root"
mkdir "$work/base"
printf 'id\nx\n' | tee "$work/base/rows.csv" "$work/base/check.csv" >/dev/null
printf 'name\nx\n' | tee "$work/run/rows.csv" "$work/run/check.csv" >/dev/null
refuses "want 'id'" "run: a table without ids" compare "$work/base/rows.csv" "$work/run/rows.csv"
refuses "holds no system-model/specs" "a root without specs" list recipes --root "$work/run"
sed 's/^id = .*/id = aaa-broken/' "$good" >"$root/workloads/recipes/aaa-broken.ini"
echo 'bananas' >>"$root/workloads/recipes/zzz-broken.ini"
refuses "zzz-broken.ini" "bench: one broken recipe ends it" bench --root "$root" --out "$work/half"
[ ! -e "$work/half" ] || [ -z "$(find "$work/half" -type f)" ]
result $? "bench that failed wrote nothing"
rm -f "$root"/workloads/recipes/*-broken.ini
cp "$good" "$root/workloads/recipes/zzz-copy.ini"
refuses "zzz-copy.ini: id: 'mlperf-v1.1-closed-ipu-pod16-resnet50', want the file's name, zzz-copy" \
    "bench: a copy that kept the id of its original" bench --root "$root" --out "$work/half"
rm "$root/workloads/recipes/zzz-copy.ini"
refuses "cannot be" "bench into a place that cannot be made" bench --root "$root" --out /dev/null/run
for option in out mllog root trace published; do
    case $option in mllog) command="run $good" ;; trace) command="timeline $good" ;; published) command=check ;; *) command=bench ;; esac
    # shellcheck disable=SC2086
    refuses "--$option: the name is empty; want" "an empty name: --$option" $command "--$option="
done

for command in lint score watch run compare init; do
    refuses "$command: an argument is empty; usage: podbench $command [OPTION...] " "an empty argument: $command" "$command" ""
done
refuses "argument 2: 'a?[31m?' holds a control character" "an argument that a terminal would obey" lint "$(printf 'a\033[31m\177')"
refuses "argument 1: '?run' holds a control character" "a command that a terminal would obey" "$(printf '\033run')"
mkdir "$work/names" && touch "$work/names/$(printf 'a\033[2Jb').ini" "$work/names/c.ini"
run bench --recipes "$work/names" --out "$work/never"
gives 2 "$work/names: 'a?[2Jb' holds a control character" "a recipe's name that a terminal would obey"
mkdir "$work/$(printf 'd\033c')" && cp -r tests/bad/mllog "$work/$(printf 'd\033c')/logs"
(program=$(realpath "$PODBENCH"); root=$(pwd); cd "$work/$(printf 'd\033c')" && "$program" lint --root "$root" logs >"$work/out" 2>"$work/err" </dev/null)
status=$?
gives 2 "podbench: '$work/d?c/logs' holds a control character" "a folder above that a terminal would obey"
for option in "sweep:jobs" "run:runs" "search:most"; do
    refuses "--${option#*:}: '0' is too small; want at least 1" "--${option#*:} 0" "${option%%:*}" "$good" "--${option#*:}" 0
done

run workload resnet50 --set parallel.micro_batch=65536
gives 0 "micro-batch 65536:" "the largest micro-batch of a workload"
for value in 0 65537; do
    refuses "--set parallel.micro_batch=$value: want data.NAME=SIZE, parallel.micro_batch=1..65536, " "a micro-batch of $value" \
        workload resnet50 --set "parallel.micro_batch=$value"
done

# ---- numbers beyond what is timed, and output that cannot be written
refuses "2^53) are too many to time; most go to input from the host: raise hosts.decode_bytes_per_s" "a host of a byte a second" \
    run "$good" --set hosts.decode_bytes_per_s=1 --set parallel.gradient_accumulation=300
refuses "too many to time; most go to norms over several replicas: raise the rates of the links" "norms over a link that is nearly none" \
    run mlperf-v2.0-closed-bow-pod16-resnet50 --set 'faults.link=0-1 1e-30'
refuses "too many to time; most go to the weight update: raise the rates of links and memory" "a link that is next to nothing" \
    run "$bert" --set "faults.link=0-1 1e-30"
refuses "$good: all-reduce: quad-ring wants one group" "a collective's refusal names the recipe" run "$good" --set parallel.all_reduce=quad-ring
refuses "argument 4: '--set=a?b=c' holds a control character" "an override that holds a newline" run "$good" --check "--set=a
b=c"
refuses "argument 4: 'a?b=c' holds a control character" "a newline in a value of an option" run "$good" --set "a
b=c"
for words in "--help" "run --help" "list recipes"; do
    # shellcheck disable=SC2086
    "$PODBENCH" $words >/dev/full 2>"$work/err"
    [ $? -eq 2 ] && grep -q 'cannot write all of standard output' "$work/err"
    result $? "$words into a full device: 2, said" "$(cat "$work/err")"
done
(ulimit -f 1; "$PODBENCH" timeline "$good" --trace "$work/limited.json" >/dev/null 2>"$work/err"; echo $? >"$work/out")
[ "$(cat "$work/out")" = 2 ] && grep -q 'cannot be written completely' "$work/err" && [ ! -e "$work/limited.json" ]
result $? "a file past the size limit: 2, said, nothing left" "$(cat "$work/out" "$work/err")"

# What an option cannot do where it is given is refused, not passed over.
refuses "machine: --topology wants a NAME" "links of no machine" machine --topology
for format in csv json; do
    refuses "machine: --topology wants a NAME, and prints every link as text or dot" "links as $format" machine bow-pod16 --topology --format $format
done
refuses "workload: --ops wants a NAME" "operations of no model" workload --ops
refuses "workload: --set, or --approximate, wants a NAME" "settings of no model" workload --approximate
refuses "workload: --ops prints every operation as text" "operations as json" workload resnet50 --ops --format json
refuses "compare: one and --baseline two both name the base" "two baselines" compare one three --baseline two
table=results/published/vendor.csv
for option in "--format tap" "--format json --margin 0.1"; do
    # shellcheck disable=SC2086
    refuses "compare: two tables are compared cell by cell, as text or json; leave out --margin and --format" "tables compared, $option" \
        compare $table $table $option
done
# A stack that is too small is named; one that is not serves every kind of work. Sanitizers take more for themselves.
(ulimit -s 191; "$PODBENCH" run "$good" >"$work/out" 2>"$work/err"; echo $? >>"$work/out")
case $PODBENCH in
*asan*) echo "# skipped: little stack, under the sanitizers" ;;
*)
    [ "$(cat "$work/out")" = 2 ] && [ "$(cat "$work/err")" = "podbench: the stack is limited to 191 KiB, want 192 or more: ulimit -s 192" ]
    result $? "a small stack: 2, said" "$(cat "$work/out" "$work/err")"
    for task in "run $good" "explain $good" "timeline $good" "bench --jobs 2 --out $work/run --root tests/root" "sweep $good --over parallel.micro_batch=1,2" \
        "search $good --over parallel.micro_batch=1,2 --most 9"; do
        # shellcheck disable=SC2086
        (ulimit -s 192; exec "$PODBENCH" $task >/dev/null 2>&1)
        result $? "192 KiB of stack: $task"
    done ;;
esac
refuses "trace" "timeline into a place that cannot be written" timeline "$good" --trace /nonexistent/trace.json
done_testing
