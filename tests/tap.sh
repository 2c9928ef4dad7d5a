# tap.sh - what every shell test sources: TAP output, the program, a temporary folder.
set -u
export LC_ALL=C
PODBENCH=${PODBENCH:-build/podbench}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0 n_failed=0

result() { # STATUS NAME [DIAGNOSTIC]
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        n_failed=$((n_failed + 1))
        echo "not ok $n - $2"
        [ -z "${3:-}" ] || printf '%s\n' "$3" | sed 's/^/# /'
        [ -z "${CMOCKA_TEST_ABORT:-}" ] || exit 1
    fi
}
run() { # ARGUMENT... - sets status, and the files out and err in $work
    "$PODBENCH" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    case ${1:-} in search | train) sed -i '/^podbench: \(searching: [0-9]* simulated\|seed [0-9]*: [0-9]* samples, loss\)/d' "$work/err" ;; esac     # these come by the clock
}
# The exit status and a fixed text in stdout or stderr.
gives() { # STATUS TEXT NAME - after run
    if [ "$status" -eq "$1" ] && cat "$work/out" "$work/err" | grep -qF -- "$2"; then result 0 "$3"; else
        result 1 "$3" "status $status, want $1; want '$2' in: $(head -c 600 "$work/out") $(head -c 600 "$work/err")"; fi
}
# Bad input: status 2, nothing on stdout, one line "podbench: ..." with the text in it.
refuses() { # TEXT NAME ARGUMENT...
    text=$1 name=$2
    shift 2
    run "$@"
    if [ "$status" -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -q '^podbench: ' "$work/err" && grep -qF -- "$text" "$work/err"; then
        result 0 "$name"
    else
        result 1 "$name" "status $status, want 2 and one line with '$text'; stdout $(wc -c <"$work/out") bytes; stderr: $(head -c 600 "$work/err")"
    fi
}
done_testing() {
    echo "1..$n"
    [ "$n_failed" -eq 0 ]
    exit
}
