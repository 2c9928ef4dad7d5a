#!/bin/sh
# What commands say of themselves, and what is refused of arguments, word for word.
. tests/tap.sh
. tests/printed.sh
resnet=mlperf-v2.0-closed-bow-pod16-resnet50

# One argument less than it needs, and one more than it takes.
for command in list:1:1 machine:0:1 framework:0:1 workload:0:1 plan:1:1 timeline:1:1 run:1: fit:1:1 explain:1:1 diff:2:2 sweep:1: merge:1: search:1:1 bench:0:0 check:0:1 validate:0:1 \
    calibrate:0:0 ledger:0:0 audit:0:0 watch:1:1 compare:1:2 baseline:0:1 score:1:1 lint:1: compare-logs:1:1 record:0:1 history:1:2 init:0:1 \
    completion:1:1 plot:0:1 report:0:1; do
    least=${command#*:} most=${command##*:}
    case ${least%:*} in
        0) case $command in plot:* | report:* | baseline:* | record:*) show "${command%%:*}" ;; esac ;;
        1) show "${command%%:*}" ;;
        2) show "${command%%:*}" none ;;
    esac
    case $most in
        0) show "${command%%:*}" none ;;
        1) show "${command%%:*}" none none ;;
        2) show "${command%%:*}" none none none ;;
    esac
done
# What a command takes beyond its arguments.
show completion csh
show init ''
show check nothing
show diff nothing $resnet
show list nothing
show run nothing --set x.y=1 --set z.z=1 --set x.y=2 --set z.z=1
show workload nothing
show run $resnet --runs 1001
show sweep $resnet --over parallel.micro_batch=1 --jobs 1025
printf 't,x\n1,2\n2,y\n' >"$work/series.csv"
show watch "$work/series.csv"
show watch "$work/series.csv" --metric z
show watch "$work/series.csv" --metric t --better maybe
show watch "$work/series.csv" --metric t --least-change -0.1
show watch "$work/series.csv" --metric t --least-change x
show baseline "$work/series.csv" --baseline "$work/b" --reason why
printed arguments

for shell in bash zsh fish; do
    show completion $shell
done
show --complete ''
show --complete watch -
printed completion
done_testing
