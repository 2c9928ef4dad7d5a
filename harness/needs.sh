#!/bin/sh
# needs.sh build|man|lint|explorer|explorer-test|mutate|train - looks for what a target needs, and installs what is missing
# by name with apt-get; where it may not, says what to install and ends with status 2.
set -u
APT_GET=${APT_GET:-apt-get}
CC=${CC:-cc}
missing=

header() { # PACKAGE HEADER
    printf '#include <stdio.h>\n#include <%s>\n' "$2" | $CC -E - >/dev/null 2>&1 || missing="$missing $1"
}
program() { # PACKAGE PROGRAM
    command -v "$2" >/dev/null 2>&1 || missing="$missing $1"
}

# Without a compiler no header can be looked for: it alone is named. CC may hold words: "ccache gcc".
compiler() {
    # shellcheck disable=SC2086
    echo 'int main(void) { return 0; }' | $CC -x c -c -o /dev/null - 2>/dev/null && return
    case $CC in
    cc | gcc) missing=" gcc libc6-dev" ;;
    clang) missing=" clang" ;;
    *) echo "podbench: CC=$CC does not compile C; name a C compiler, as in 'make CC=gcc'" >&2; exit 2 ;;
    esac
    return 1
}

look() {
    missing=
    case $1 in
    build)
        compiler || return 0
        header libgsl-dev gsl/gsl_errno.h
        header libcsv-dev csv.h
        header libjansson-dev jansson.h
        header libxxhash-dev xxhash.h
        header libprotobuf-c-dev protobuf-c/protobuf-c.h
        header libdnnl-dev dnnl.h
        header librandom123-dev Random123/philox.h
        header zlib1g-dev zlib.h
        program protobuf-c-compiler protoc-c
        printf '#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <cmocka.h>\n' |
            $CC -E - >/dev/null 2>&1 || missing="$missing libcmocka-dev"
        program gnuplot-nox gnuplot
        program perl prove
        program strace strace
        ;;
    man)
        program help2man help2man
        ;;
    lint)
        program clang clang
        program llvm llvm-cov
        program cppcheck cppcheck
        program xz-utils xz
        ;;
    explorer)
        program emscripten emcc
        [ -d /usr/share/nodejs/acorn ] || missing="$missing node-acorn"
        program dpkg-dev dpkg-source
        program nodejs node
        program npm npm
        ;;
    explorer-test)
        program chromium chromium
        ;;
    mutate)
        /usr/bin/python3 -c 'import clang.cindex' 2>/dev/null || missing="$missing python3-clang"
        ;;
    train)
        [ -d /usr/share/datasets/fashion-mnist ] || missing="$missing dataset-fashion-mnist"
        [ -e /usr/lib/bible.data ] || missing="$missing bible-kjv-text"
        program bible-kjv bible
        program espeak-ng espeak-ng
        /usr/bin/python3 -c 'import numpy' 2>/dev/null || missing="$missing python3-numpy"
        ;;
    *)
        echo "needs.sh: '$1' is none of build, man, lint, explorer, explorer-test, mutate, train" >&2
        exit 2
        ;;
    esac
}

give_up() {
    echo "podbench: missing$missing; $1; install with: apt-get install$missing" >&2
    exit 2
}

look "$1"
[ -n "$missing" ] || exit 0
command -v "$APT_GET" >/dev/null 2>&1 || give_up "there is no apt-get here"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || give_up "neither root nor sudo"
    as_root=sudo
    sudo -n true 2>/dev/null || [ -t 0 ] || give_up "sudo wants a password"
fi
echo "podbench: installing$missing" >&2
install() {
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive "$APT_GET" install -y --no-install-recommends $missing >&2
}
install || { $as_root "$APT_GET" update >&2 && install; } || give_up "apt-get could not install them"
look "$1"
[ -z "$missing" ] || give_up "apt-get installed them, yet they are not found"
