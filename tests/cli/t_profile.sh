#!/bin/sh
# explain --profile sets a measured profile beside the prediction: sums by hand, refusals, and the script that sums Poplar's profile.pop.
. tests/tap.sh
recipe=mlperf-v2.0-closed-bow-pod16-bert-large

# Two IPUs a replica would be another recipe: a table without IPUs, in seconds and in cycles of 1.85 GHz, over two steps.
cat >"$work/table.csv" <<'END'
kind,name,ipu,value,unit
steps,,,2,
OnTileExecute,encoder/MatMul/Conv_1/Convolve,,1.1,s
matmul,,,185000000,cycles
OnTileExecute,encoder/LayerNorm/var,,0.04,s
OnTileExecute,Softmax/exp,,0.1,s
OnTileExecute,Gelu/op,,0.06,s
DoExchange,anything,,0.5,s
Sync,,,0.3,s
memory,fullest tile,,500000,B
memory,fullest tile,,400000,B
END
run explain "$recipe" --profile "$work/table.csv"
sed -n '/beside the prediction/,/^fullest/p' "$work/out" >"$work/shown"
# 1.1 s and 0.185e9 / 1.85e9 s = 0.1 s are 0.6 s of each step; the sum is (1.2 + 0.04 + 0.1 + 0.06 + 0.5 + 0.3) / 2 = 1.1 s.
for line in "products *600 ms" "norms *20.0 ms" "softmax *50.0 ms" "other vector work *30.0 ms" "exchange *250 ms" "waiting *150 ms" "rearrangement *- " "step *1.10 s" \
    "fullest tile: measured 500 kB (IPU 0), predicted "; do
    grep -q "^$line" "$work/shown"
    result $? "by hand: $line" "$(cat "$work/shown")"
done
run explain "$recipe" --profile "$work/table.csv" --format json
# What is predicted adds up to the step, group by group.
python3 - "$work/out" <<'END' 2>"$work/err"
import json, math, sys
answer = json.load(open(sys.argv[1]))
answer = answer[0] if isinstance(answer, list) else answer
rows = answer["profile"]
assert math.isclose(sum(row["predicted_s"] for row in rows[:-1]), answer["step_time_s"], rel_tol=1e-9), rows
assert rows[-1]["group"] == "step" and math.isclose(rows[-1]["measured_s"], 1.1)
END
status=$?
command -v python3 >/dev/null || status=0
result "$status" "the predicted groups add up to the step" "$(cat "$work/err")"

refused() { # MESSAGE ROW NAME
    printf 'kind,name,ipu,value,unit\n%s\n' "$2" >"$work/bad.csv"
    refuses "$1" "$3" explain "$recipe" --profile "$work/bad.csv"
}
refused "bad.csv:2: kind: 'Convolve' is not known; want a type of Poplar's programs" "Convolve,x,0,1,cycles" "a kind that is none"
refused "bad.csv:2: unit: 'ms' is neither cycles nor s" "Sync,x,0,1,ms" "a unit that is none"
refused "bad.csv:2: value: '-1' is not a number from 0 up" "Sync,x,0,-1,s" "a negative time"
refused "bad.csv:2: unit: 's' is not B, the unit of memory" "memory,x,0,1,s" "memory in seconds"
refused "has 3 IPUs; want those of a replica (8) or of all replicas (16) of the recipe" "Sync,x,2,1,s" "other IPUs than the recipe's"
printf 'kind,ipu,value,unit\nSync,0,1,s\n' >"$work/bad.csv"
refuses "bad.csv:1: no column 'name'; want kind,name,ipu,value,unit" "a missing column" explain "$recipe" --profile "$work/bad.csv"

# profile.py, with a database and with a library of the shape that the SDK's have.
if command -v python3 >/dev/null; then
    python3 - "$work/profile.pop" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""create table steps(id, type, program, compute_set); create table steps_by_ipu(step_id, ipu, cycles);
    create table programs(id, name); create table compute_sets(compute_set, name); create table memory_by_tile(tile, total);
    insert into steps values (1, 'OnTileExecute', 10, 7), (2, 'DoExchange', 11, null), (3, 'OnTileExecute', 10, 7);
    insert into steps_by_ipu values (1, 0, 100), (1, 1, 110), (2, 0, 50), (3, 0, 1000), (3, 1, 1100);
    insert into programs values (10, 'execute'), (11, 'copies'); insert into compute_sets values (7, 'fc/Convolve');
    insert into memory_by_tile values (0, 1000), (1, 3000);""")
db.commit()
END
    python3 harness/project/profile.py "$work/profile.pop" --steps 4 >"$work/out" 2>"$work/err"
    printf '%s\n' kind,name,ipu,value,unit steps,,,4, DoExchange,copies,0,50,cycles OnTileExecute,fc/Convolve,0,1100,cycles OnTileExecute,fc/Convolve,1,1210,cycles \
        "memory,fullest tile,0,3000,B" | cmp -s - "$work/out"
    result $? "a database is summed" "$(cat "$work/out" "$work/err")"
    mkdir "$work/sdk" && cat >"$work/sdk/pva.py" <<'END'
from types import SimpleNamespace as Of
def openReport(path):
    step = Of(program=Of(type="Type.Sync", name="external"), ipus=[Of(cycles=7), Of(cycles=9)])
    tiles = [Of(memory=Of(total=Of(includingGaps=size))) for size in (10, 20, 40, 30)]
    return Of(execution=Of(runs=[Of(steps=[]), Of(steps=[step, step])]), compilation=Of(tiles=tiles, target=Of(numIPUs=2)))
END
    PYTHONPATH="$work/sdk" python3 harness/project/profile.py any >"$work/out" 2>"$work/err"
    printf '%s\n' kind,name,ipu,value,unit Sync,external,0,14,cycles Sync,external,1,18,cycles "memory,fullest tile,0,20,B" "memory,fullest tile,1,40,B" | cmp -s - "$work/out"
    result $? "libpva's last run is summed" "$(cat "$work/out" "$work/err")"
    echo "no database" >"$work/other"
    python3 harness/project/profile.py "$work/other" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "profile.py: .*run this where the SDK's libpva is" "$work/err"
    result $? "another file is refused" "$(cat "$work/err")"
fi
done_testing
