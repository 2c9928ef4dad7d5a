#!/bin/sh
# What is missing is installed by name, or named: with a compiler and an apt-get that are made up.
. tests/tap.sh
fake=$work/bin
mkdir -p "$fake" "$work/have"
cat >"$fake/fakecc" <<'END'
#!/bin/sh
# Knows the headers for which a file of that name is in $HAVE.
for h in $(sed -n 's/^#include <\(.*\)>/\1/p' | tr / _); do
    case $h in stdio.h|setjmp.h|stdarg.h|stddef.h|stdint.h) ;; *) [ -e "$HAVE/$h" ] || exit 1 ;; esac
done
END
cat >"$fake/fake-apt" <<'END'
#!/bin/sh
echo "$*" >>"$LOG"
[ "$1" = update ] && { touch "$HAVE/lists"; exit 0; }
[ -n "${NO_LISTS:-}" ] && [ ! -e "$HAVE/lists" ] && exit 100
[ -n "${BROKEN:-}" ] && exit 100
touch "$HAVE/gsl_gsl_errno.h" "$HAVE/csv.h" "$HAVE/ini.h" "$HAVE/jansson.h" "$HAVE/xxhash.h" "$HAVE/protobuf-c_protobuf-c.h" "$HAVE/dnnl.h" "$HAVE/Random123_philox.h" "$HAVE/zlib.h" "$HAVE/cmocka.h"
END
printf '#!/bin/sh\nexit 0\n' >"$fake/gnuplot"
printf '#!/bin/sh\nexit 0\n' >"$fake/prove"
cp "$fake/prove" "$fake/strace"
cp "$fake/prove" "$fake/protoc-c"
printf '#!/bin/sh\n[ "$1" = -n ] && exit 0\nexec "$@"\n' >"$fake/sudo"
chmod +x "$fake"/*
export HAVE="$work/have" LOG="$work/log"
look() { rm -f "$LOG"; PATH=$fake:$PATH CC=fakecc APT_GET=${1:-fake-apt} sh harness/needs.sh build >"$work/out" 2>"$work/err"; status=$?; }

look
[ "$status" -eq 0 ] && grep -q 'install -y .* libgsl-dev libcsv-dev libjansson-dev libxxhash-dev libprotobuf-c-dev libdnnl-dev librandom123-dev zlib1g-dev libcmocka-dev' "$LOG"
result $? "what is missing is installed by name" "$(cat "$work/err")"
look
[ "$status" -eq 0 ] && [ ! -e "$LOG" ] && [ ! -s "$work/err" ]
result $? "nothing is missing: nothing is done, nothing is said"
rm "$HAVE/csv.h"
look
grep -q 'install -y --no-install-recommends libcsv-dev$' "$LOG"
result $? "only what is missing"
rm -f "$HAVE"/*
NO_LISTS=1
export NO_LISTS
look
[ "$status" -eq 0 ] && [ "$(sed -n 2p "$LOG")" = update ]
result $? "without package lists: update, then install" "$(cat "$LOG")"
unset NO_LISTS
rm -f "$HAVE"/*
BROKEN=1
export BROKEN
look
[ "$status" -eq 2 ] && grep -q '^podbench: missing .*libcsv-dev.* apt-get could not install them; install with: apt-get install .*libcsv-dev' "$work/err"
result $? "apt-get fails: what to install, status 2" "$(cat "$work/err")"
unset BROKEN
look no-such-apt
[ "$status" -eq 2 ] && grep -q 'there is no apt-get here; install with: apt-get install libgsl-dev' "$work/err"
result $? "no apt-get: what to install, status 2" "$(cat "$work/err")"
CC=no-such-cc sh harness/needs.sh build >"$work/out" 2>"$work/err"
status=$?
[ "$status" -eq 2 ] && [ "$(cat "$work/err")" = "podbench: CC=no-such-cc does not compile C; name a C compiler, as in 'make CC=gcc'" ]
result $? "a compiler that is not there is named alone" "$(cat "$work/err")"
PATH=$fake:$PATH CC="env fakecc" APT_GET=fake-apt sh harness/needs.sh build >"$work/out" 2>"$work/err"
result $? "a compiler of several words" "$(cat "$work/err")"
done_testing
