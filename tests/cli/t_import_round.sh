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
done_testing
