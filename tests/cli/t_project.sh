#!/bin/sh
# A project of one's own as its user has it: started by init, kept in git, judged by the steps of the workflows that init writes.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
root=$PWD

"$PODBENCH" init "$work/mine" >"$work/out" 2>"$work/err"
gone() { (cd "$work/mine" && unset MAKEFLAGS MAKELEVEL B; env "$@" >"$work/out" 2>"$work/err"); status=$?; }
ln -s "$root" "$work/mine/podbench"     # as the workflow's clone, and without a blank in its name
printf 'PODBENCH := %s\n' "$PODBENCH" >"$work/mine/local.mk"
make=${MAKE:-make}

cp "$work/mine/.gitignore" "$work/ignored" && sed -i 's,/podbench/,/podbench,' "$work/mine/.gitignore"      # a link is no folder
(cd "$work/mine" && git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm first) >"$work/out" 2>&1
(cd "$work/mine" && ! git grep -nF "$root" && ! git ls-files | grep -q 'local.mk\|^podbench\|^build') >"$work/out" 2>&1
result $? "no file that is committed names a folder of this machine" "$(cat "$work/out")"

gone $make -s help
gives 0 'report - ' "make help lists the targets"
[ "$(wc -l <"$work/out")" -eq 7 ]
result $? "there are seven" "$(cat "$work/out")"

# The steps after the clone, as the files have them.
sed -n 's/^      - run: \(make\|if\)/\1/p' "$work/mine/.github/workflows/podbench.yml" >"$work/github"
sed -n 's/^    - \(make\|if\)/\1/p' "$work/mine/.gitlab-ci.yml" >"$work/gitlab"
[ "$(wc -l <"$work/github")" -eq 2 ] && [ "$(wc -l <"$work/gitlab")" -eq 2 ]
result $? "each workflow has two steps" "$(cat "$work/github" "$work/gitlab")"
gone sh -e "$work/github"
gives 0 '' "GitHub: the steps pass, without a baseline"
gone $make -s baseline REASON='first"; touch pwned; echo "$(touch pwned)$(shell touch pwned)`touch pwned`'
gives 0 'recorded' "a reason with quotes, dollars and backticks is recorded"
[ ! -e "$work/mine/pwned" ] && grep -qF '"first""; touch pwned; echo ""$(touch pwned)$(shell touch pwned)`touch pwned`"' "$work/mine/baseline/reasons.csv"
result $? "as it was given, and none of it was run" "$(ls "$work/mine"; cat "$work/mine/baseline/reasons.csv")"
gone sh -e "$work/gitlab"
[ $status -eq 0 ] && grep -q '<testsuite ' "$work/mine/check.xml" && grep -q '<testsuite ' "$work/mine/gate.xml"
result $? "GitLab: the steps pass and leave two reports" "$(cat "$work/err")"
gone $make -Bn -C "$root" build/podbench
grep -q "^echo .* cc " "$work/out" && ! grep "^echo" "$work/out" | grep -qv "^echo >&2"
result $? "what is compiled on the way is not said in the report" "$(grep "^echo" "$work/out" | head -3)"

sed -i 's/^gradient_accumulation = .*/gradient_accumulation = 8/' "$work/mine/recipes/my-run.ini"
gone sh -e "$work/github"
[ $status -ne 0 ] && grep -q '^::error file=recipes/my-run.ini,line=1,title=change of ' "$work/out"
result $? "GitHub: an edited recipe fails the gate, at its file" "$(cat "$work/out")"
gone sh -e "$work/gitlab"
[ $status -ne 0 ] && grep -q '<failure ' "$work/mine/gate.xml"
result $? "GitLab: so it does there" "$(cat "$work/mine/gate.xml")"

if command -v gnuplot >/dev/null 2>&1; then
    gone $make -s report
    [ $status -eq 0 ] && [ -e "$work/mine/build/run/report.html" ]
    result $? "make report draws the project's run" "$(cat "$work/err")"
    grep -q '<h1>1 run beside 1 published figure<' "$work/mine/build/run/report.html" &&
        grep -q 'nearest published run: ' "$work/mine/build/run/report.html"
    result $? "its page counts one run as one, and says how far to trust it" "$(grep -E '<h1|interval' "$work/mine/build/run/report.html" | cut -c1-200)"
else
    result 0 "its page counts one run as one # SKIP no gnuplot here"
    result 0 "make report draws the project's run # SKIP no gnuplot here"
fi

gone $make -s check RECIPES='recipes; touch pwned' FORMAT='text; touch pwned'
[ $status -ne 0 ] && [ ! -e "$work/mine/pwned" ]
result $? "paths and formats reach the shell as one word each" "$(cat "$work/err")"

mkdir "$work/odd \$(shell touch pwned)" && for part in system-model workloads results plots bench.mk harness; do ln -s "$root/$part" "$work/odd \$(shell touch pwned)/$part"; done
pasted=$("$PODBENCH" init "$work/it's \$(touch pasted)" | sed -n 's/^next: \(.*\) && make check$/\1/p')
(eval "$pasted" && [ -f Makefile ] && [ ! -e pasted ])
result $? "the command that comes next can be pasted whatever the folder is called" "$pasted"
"$PODBENCH" init "$work/odd-root" --root "$work/odd \$(shell touch pwned)" >"$work/out" 2>"$work/err"
(cd "$work/odd-root" && unset MAKEFLAGS MAKELEVEL B PODBENCH_HOME; $make -s help >"$work/out" 2>"$work/err"; [ ! -e pwned ])
result $? "a root with make functions in its name runs none of them" "$(cat "$work/odd-root/local.mk" "$work/out" "$work/err")"
done_testing
