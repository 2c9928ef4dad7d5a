#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/models.md run as they are printed, and its recipe does; model.onnx is a written BERT.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
page=$PWD/docs/models.md
"$PODBENCH" workload bert-base --onnx "$work/model.onnx" >/dev/null
cd "$work" || exit 1
awk '/```ini/ { on = 1; next } /```/ { on = 0 } on' "$page" | sed 's/^ *//' | grep -v '^tokens = ' >mine.ini        # a written file has its sizes
grep -q '^workload = model.onnx$' mine.ini
result $? "the page has a recipe for model.onnx" "$(cat mine.ini)"
tr '\n' ' ' <"$page" | grep -o '`podbench [^`]*`' | tr -d '`' | sed 's/  */ /g; s/^podbench //' | sort -u >commands
[ "$(wc -l <commands)" -ge 8 ]
result $? "the page has commands" "$(cat commands)"
while read -r command; do
    # shellcheck disable=SC2086
    "$PODBENCH" $command >out 2>err </dev/null
    [ $? -le 1 ] && [ -s out ]
    result $? "podbench $command" "$(cat err)"
done <commands
"$PODBENCH" workload vit-s16 --onnx vit.onnx --weights 1 >out 2>err && [ -s vit.onnx.data ]
result $? "weights beside a written model" "$(cat err)"
done_testing
