#!/bin/sh
# Installed: the program finds its data, the library compiles and runs, completion and manual hold every command, uninstall
# leaves nothing; a project of one's own includes bench.mk.
. tests/tap.sh
root=$PWD
build=$(dirname "$PODBENCH")
build=${build#"$root/"}         # make takes no blank in B, and the folder above may have one
recipe=mlperf-v1.1-closed-ipu-pod16-resnet50
${MAKE:-make} -s B="$build" PREFIX=/usr DESTDIR="$work/dest" install >"$work/install" 2>&1
result $? "make install" "$(tail -5 "$work/install")"
here=$("$PODBENCH" run "$recipe" --format csv | cut -d, -f6)
there=$(cd "$work" && env -u PODBENCH_ROOT dest/usr/bin/podbench run "$recipe" --format csv | cut -d, -f6)
[ -n "$here" ] && [ "$here" = "$there" ]
result $? "the installed program finds its data, and says the same" "$here / $there"
(cd "$work" && env -u PODBENCH_ROOT dest/usr/bin/podbench bench >/dev/null 2>"$work/err" && [ -s podbench-runs/latest/rows.csv ])
result $? "an installed program writes its runs to the current folder" "$(cat "$work/err")"

export PKG_CONFIG_PATH="$work/dest/usr/lib/pkgconfig"
flags=$(pkg-config --define-variable=prefix="$work/dest/usr" --cflags --libs podbench 2>"$work/err" ||
    sed -n "s|\${prefix}|$work/dest/usr|g; s/^Cflags: //p; s/^Libs: //p" "$PKG_CONFIG_PATH/podbench.pc" | tr '\n' ' ')
# A library built for the sanitizers wants them in what links it, too.
case $build in *asan*) flags="-fsanitize=address,undefined $flags" ;; esac
# shellcheck disable=SC2086
${CC:-cc} -Wall -Werror -o "$work/example" tests/harness/example.c $flags 2>"$work/err" &&
    LD_LIBRARY_PATH="$work/dest/usr/lib" "$work/example" "$recipe" >"$work/out" 2>>"$work/err"
status=$?
gives 0 "$recipe is fastest at micro-batch 16" "the library's example compiles by pkg-config and runs"
LD_LIBRARY_PATH="$work/dest/usr/lib" "$work/example" no-such >"$work/out" 2>"$work/err"
status=$?
gives 2 "no recipe 'no-such'" "the library tells what failed"
echo '#include <podbench.h>' >"$work/alone.c"
${CC:-cc} -Wall -Wextra -Werror -pedantic -std=c99 -I"$work/dest/usr/include" -fsyntax-only "$work/alone.c" 2>"$work/err"
result $? "the public header stands alone" "$(cat "$work/err")"

missing=
for c in $("$PODBENCH" --commands); do
    "$PODBENCH" --complete "$c" -- >"$work/offered"
    for option in $("$PODBENCH" "$c" --help | grep -oE -- '--[a-z-]+' | sort -u | grep -vE -- '--(help|usage|version)$'); do
        grep -qE -- "^$option(=|	)" "$work/offered" || missing="$missing $c:$option"
    done
    "$PODBENCH" --complete "" | grep -q "^$c	" || missing="$missing $c"
    ! command -v help2man >/dev/null 2>&1 || grep -qi "podbench-$c .- " "$work/dest/usr/share/man/man1/podbench-$c.1" || missing="$missing page:$c"
done
[ -z "$missing" ]
result $? "every command, and every option of its help, is offered to shells; every command has its page" "$missing"
if command -v man >/dev/null 2>&1 && command -v help2man >/dev/null 2>&1; then
    LC_ALL=C man --warnings -l "$work/dest/usr/share/man/man1/podbench-run.1" >/dev/null 2>"$work/err"
    [ ! -s "$work/err" ]
    result $? "man reads them without a warning" "$(head -5 "$work/err")"
else
    result 0 "man reads them # SKIP no man or help2man here"
fi
for shell in bash zsh fish; do
    if command -v "$shell" >/dev/null 2>&1; then
        "$PODBENCH" completion "$shell" >"$work/completion" && "$shell" -n "$work/completion" 2>"$work/err"
        result $? "$shell takes its completion" "$(cat "$work/err")"
    else
        result 0 "$shell takes its completion # SKIP no $shell here"
    fi
done
# What bash offers for the last of the words.
offers() { # WANTED WORD...
    wanted=$1
    shift
    words=$(PATH=$work/dest/usr/bin:$PATH bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _podbench 2>/dev/null; echo "${COMPREPLY[*]}"' - \
        "$work/dest/usr/share/bash-completion/completions/podbench" podbench "$@")
    [ "$words" = "$wanted" ]
    result $? "bash completes $*" "$words"
}
offers "search" sea
offers "--format= --force" run --fo
offers "vendor-bow-pod16-resnet50-pytorch vendor-bow-pod16-resnet50-tf1" run vendor-bow-pod16-resnet5
offers "bow-pod1024 bow-pod128 bow-pod16" machine bow-pod1
offers "parallel.micro_batch=" run any --set = parallel.micro
offers "parallel.micro_batch=" sweep any --over parallel.micro
offers "machines metrics" list m
offers "json junit" run any --format = j
offers "higher" watch any --better h
offers "" run any --seed vendor-bow
offers "vendor-bow-pod16-resnet50-tf1" run any --all vendor-bow-pod16-resnet50-t
[ "$("$PODBENCH" --complete run any --format=j | grep json)" = "--format=json" ] && [ "$("$PODBENCH" --complete run any --set=parallel.micro | grep parallel.micro)" = "--set=parallel.micro_batch=" ]
result $? "shells that make one word of an option and its value are offered such a word"
refuses "unknown shell 'csh'; known: bash, zsh, fish" "completion of another shell" completion csh
refuses "did you mean 'run'?" "help of no command" help rnu

${MAKE:-make} -s B="$build" PREFIX=/usr DESTDIR="$work/dest" uninstall >"$work/install" 2>&1
[ "$(find "$work/dest" -type f | wc -l)" -eq 0 ]
result $? "make uninstall leaves no file" "$(find "$work/dest" -type f | head -5)"

# ---- a project of one's own
cp -r tests/project "$work/project"
[ "$(wc -l <tests/project/Makefile)" -lt 10 ]
result $? "the example project's makefile has less than ten lines"
ln -s "$root" "$work/home"      # make includes no path with a blank in it
project() { (cd "$work/project" && unset MAKEFLAGS MAKELEVEL B; ${MAKE:-make} -s PODBENCH_HOME="$work/home" PODBENCH="$work/home/${PODBENCH#"$root"/}" "$@" >"$work/out" 2>"$work/err"); status=$?; }
project check
gives 0 'pod8.throughput' "make check in a project: its own recipe, on its own sheet"
project check FORMAT=junit
gives 0 'classname="pod8"' "make check FORMAT=junit"
if command -v xmllint >/dev/null 2>&1; then
    xmllint --noout --schema tests/project/junit.xsd "$work/out" 2>"$work/err"
    result $? "it is valid JUnit" "$(head -5 "$work/err")"
else
    result 0 "it is valid JUnit # SKIP no xmllint here"
fi
project check FORMAT=markdown
gives 0 'the published figure is of 16 IPUs' "the failure that is expected says why"
project check EXPECT=
gives 2 'Error' "without that list the same check fails"
project baseline
gives 2 'REASON=' "make baseline wants a reason"
project baseline REASON="the first one"
gives 0 'recorded' "make baseline REASON=..."
grep -q ',the first one$' "$work/project/baseline/reasons.csv"
result $? "the reason is kept"
project gate
gives 0 'change: none' "make gate: nothing moved"
sed -i 's/^micro_batch = .*/micro_batch = 8/' "$work/project/recipes/pod8.ini"
project gate FORMAT=annotations
gives 2 '::error file=recipes/pod8.ini,line=1,title=change of' "make gate: a recipe was edited"
project baseline REASON="a smaller micro-batch"
[ "$(grep -c . "$work/project/baseline/reasons.csv")" -eq 3 ] && grep -q ',a smaller micro-batch$' "$work/project/baseline/reasons.csv"
result $? "each record adds a line" "$(cat "$work/project/baseline/reasons.csv" "$work/err")"
(cd "$work/project" && PODBENCH_ROOT=$root "$root/${PODBENCH#"$root"/}" check build/run >"$work/out" 2>"$work/err"; grep -q '^pod8.throughput' "$work/out")
result $? "a run remembers the folders of its recipes and figures" "$(cat "$work/err")"
"$PODBENCH" init "$work/new" >/dev/null && [ "$(wc -l <"$work/new/Makefile")" -lt 10 ] && (cd "$work/new" && "$root/${PODBENCH#"$root"/}" run recipes/my-run.ini >"$work/out" 2>&1)
result $? "podbench init writes a project that runs" "$(cat "$work/out")"
refuses "is already there" "init overwrites nothing" init "$work/new"
done_testing
