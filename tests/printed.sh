# printed.sh - what commands print on a frozen tree of data, against tests/golden/printed: sourced after tap.sh. The tree, tests/root, holds
# copies of a few sheets, recipes and tables, which no calibration changes; what the model computes of them shows, and is to show.
# PODBENCH_GOLDEN=write writes the texts instead. Read the diff.
export PODBENCH_ROOT=tests/root
version=$("$PODBENCH" --version | sed -n 's/^podbench \([^,]*\),.*/\1/p')

plain() { # the text of a command or a file, without what differs between builds
    sed "s|$work|WORK|g; s|$PWD/|./|g; s|$PODBENCH|podbench|g; s|podbench[ /]$version|podbench VERSION|g; s|\"podbench\": \"$version\"|\"podbench\": \"VERSION\"|g"
}
show() { # ARGUMENT... - the command, what it says, and its status unless 0
    run "$@"
    show_last "$@"
}
show_last() {
    {
        printf '$ podbench'
        printf ' %s' "$@"
        echo
        cat "$work/out"
        sed 's/^/! /' "$work/err"
        [ "$status" -eq 0 ] || echo "= $status"
        echo
    } | plain >>"$work/shown"
}
show_digest() { # ARGUMENT... - the same with a checksum of its output, which the command itself prints to whoever wants to read it
    run "$@"
    plain <"$work/out" | cksum >"$work/digest"
    printf '%s lines\n' "$(wc -l <"$work/out")" >>"$work/digest"
    mv "$work/digest" "$work/out"
    show_last "$@"
}
show_forms() { # ARGUMENT... - the JSON that it prints, with one item of each form in its arrays: a form is the names and types of an item's members
    run "$@"
    perl "tests/json_forms.pl" <"$work/out" >"$work/forms" && mv "$work/forms" "$work/out"
    show_last "$@"
}
show_file() { # FILE...
    for file in "$@"; do
        printf '# %s\n' "$file"
        cat "$file"
        echo
    done | plain >>"$work/shown"
}
printed() { # NAME - all that was shown since the last one
    golden=tests/golden/printed/$1.txt
    [ "${PODBENCH_GOLDEN:-}" != write ] || cp "$work/shown" "$golden"
    cmp -s "$work/shown" "$golden"
    result $? "$1" "PODBENCH_GOLDEN=write with this test writes $golden; read the diff
$(diff "$golden" "$work/shown" 2>&1 | head -8 | cut -c1-300)"
    : >"$work/shown"
}
drawn_by() { # PATH ARGUMENT... - what a command says that finds its programs in PATH alone
    old=$PATH PATH=$1
    shift
    "$PODBENCH" "$@" >/dev/null 2>"$old_err"
    echo "= $?" >>"$old_err"
    PATH=$old
    plain <"$old_err" >>"$work/shown"
}
old_err=$work/said
run_of_others() { # FOLDER - a run whose recipes differ far, one of them gone
    mkdir -p "$work/recipes"
    for r in tests/root/workloads/recipes/*.ini; do
        sed 's/^\(gradient_accumulation\|micro_batch\|instances\|loss_scale\) = \(.*\)$/\1 = 1\2/; s/^stochastic_rounding = yes/stochastic_rounding = no/' "$r" >"$work/recipes/${r##*/}"
    done
    rm "$work/recipes/vendor-dss8440-resnet50-tf1.ini"
    "$PODBENCH" bench --recipes "$work/recipes" --out "$1" >/dev/null 2>&1
}
