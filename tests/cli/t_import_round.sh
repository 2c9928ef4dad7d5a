#!/bin/sh
# tests/mlperf/import_round.py: v5.1 taken out and imported again, from files in the form of mlcommons/logging that state its demands.
. tests/tap.sh
if ! python3 -c 'import yaml' 2>/dev/null; then
    result 0 "a round is imported # SKIP no python3 with yaml here"
    done_testing
fi
tar -C "$work" -xJf tests/mlperf/official-v5.1.tar.xz
cp -r workloads/convergence/rounds "$work/rounds"
mv "$work/rounds/v5.1" "$work/v5.1"
import() { python3 tests/mlperf/import_round.py v5.1 5.1.0-rc4 "$work/official" --later "$work/official/later" --rounds "$work/rounds" >"$work/out" 2>"$work/err"; }
import
status=$?
gives 0 "flux1 is new: compare its convergence point" "v5.1 is imported, and what is left to read is said"
diff -r "$work/v5.1" "$work/rounds/v5.1" >"$work/diff"
result $? "the folder is the same to the byte" "$(head -5 "$work/diff")"
rm -r "$work/rounds/v5.1"
yaml=$work/official/mlperf_logging/compliance_checker/training_5.1.0/closed_rgat.yaml
printf '%s\n' '- KEY:' '    NAME: opt_odd' '    REQ: EXACTLY_ONE' "    CHECK: \" sorted(v['value'])[0] == v['value'] % 7 \"" >>"$yaml"
import
status=$?
gives 1 "by hand: closed_rgat.yaml: opt_odd: sorted(v['value'])[0] == v['value'] % 7" "a condition that it cannot translate is left to a person"
rm -r "$work/rounds/v5.1"
sed -i "s/ sorted.*\"/ 2 <= v['value'] ** 0.5 < 7 and not v['metadata']['kind'] == 'x' \"/" "$yaml"
import
status=$?
gives 1 "by hand: rules.csv: closed_rgat opt_odd: a sentence for 2<=sqrt(v)<7 & not (m.kind==\"x\")" "one without a known sentence wants one"
grep -q '^closed_rgat,opt_odd,1,"2<=sqrt(v)<7 & not (m.kind==""x"")"' "$work/rounds/v5.1/rules.csv"
result $? "and is translated"
rm -r "$work/rounds/v5.1"
sed -i '/NAME: opt_odd/,$d' "$yaml"
cat >>"$yaml" <<'EOF'
    NAME: opt_odd
    REQ: AT_MOST_ONE
    FIRST: " v['value'] > 3 "
    CHECK:
        - " isinstance(v['value'], int) "
        - " v['value'] == int(v['value']) "
        - " v['value'] != None "
    POST: |
        if v['value'] >= s['next']:
            s['next'] = s['next'] + s['global_batch_size']
EOF
import
status=$?
gives 1 "by hand: closed_rgat.yaml: opt_odd: FIRST:  v['value'] > 3 " "a member that it does not know is left to a person"
gives 1 "by hand: closed_rgat.yaml: opt_odd: REQ: AT_MOST_ONE" "and so is another word for how often"
grep -q '^closed_rgat,opt_odd,,is_int(v) ;; integer(v) ;; v!=null,"must be a whole number, without a decimal point ;; must be a whole number ;; must fulfil v!=null",,,st.next:=if v>=st.next then st.next+st.global_batch_size else st.next,error,' "$work/rounds/v5.1/rules.csv"
result $? "a state that changes under a condition is translated" "$(grep opt_odd "$work/rounds/v5.1/rules.csv")"
rm -r "$work/rounds/v5.1"
sed -i '/NAME: opt_odd/,$d' "$yaml"
cat >>"$yaml" <<'EOF2'
    NAME: opt_odd
    CHECK:
        - " len(v['value']) == 2 "
        - " math.isclose(v['value'], 1e-6) "
    FIRST_CHECK: " v['value'] == 3 "
    POST: " if (v['value'] == 'LAMB'): enqueue_config('training_5.1.0/closed_rgat_lamb.yaml') "
EOF2
import
grep -q '^closed_rgat,opt_odd,,count(v)==2 ;; abs(v-1e-06)<=1e-09\*1e-06 ;; st.evaluated | v==3,.*,"apply ""closed_rgat_lamb"" for ""LAMB""; st.evaluated:=true",error,' "$work/rounds/v5.1/rules.csv" &&
    grep -q '^closed_rgat,,begin,,,,,st.evaluated:=false,error,' "$work/rounds/v5.1/rules.csv"
result $? "a check of the first line keeps a state; a layer may be called for by one value; a key without REQ may be missing" "$(grep opt_odd "$work/rounds/v5.1/rules.csv")"
# A round of MLPerf HPC has folders of its own, and its workings may be those of any round.
mv "$work/official/mlperf_logging/compliance_checker/training_5.1.0" "$work/official/mlperf_logging/compliance_checker/hpc_5.1.0"
sed -i "/'hpc'/d; s/'training'/'hpc'/" "$work/official/mlperf_logging/benchmark_meta.py"
python3 tests/mlperf/import_round.py hpc-v5.1 hpc-tag "$work/official" --like v3.1 --rounds "$work/rounds" >"$work/out" 2>"$work/err"
grep -q '^ruleset,hpc-5.1.0,' "$work/rounds/hpc-v5.1/edition.csv" && grep -q '^seeds,if any,' "$work/rounds/hpc-v5.1/edition.csv" && grep -q '^flux1,yes,10,' "$work/rounds/hpc-v5.1/benchmarks.csv"
result $? "a round of MLPerf HPC is imported under its own name" "$(head -5 "$work/err"; cat "$work/rounds/hpc-v5.1/benchmarks.csv")"
done_testing
