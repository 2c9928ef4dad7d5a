#!/bin/sh
# The examples of the man pages run as they are printed, in one folder.
. tests/tap.sh
mkdir "$work/here"
case $PODBENCH in /*) program=$PODBENCH ;; *) program=$PWD/$PODBENCH ;; esac
printf 'commit,step_time_s\nc1,1\nc2,1.1\n' >"$work/here/step-times.csv"
sed -n "s/^[a-z]*;\(podbench [^;]*\);.*/\1/p" harness/examples.txt >"$work/examples"
[ "$(wc -l <"$work/examples")" -ge 16 ]
result $? "pages have examples" "$(cat "$work/examples")"
while read -r line; do
    (cd "$work/here" && eval "\"\$program\" ${line#podbench }") >"$work/out" 2>"$work/err" </dev/null
    result $? "$line" "$(head -3 "$work/err")"
done <"$work/examples"
done_testing
