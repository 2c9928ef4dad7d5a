#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# mutants.sh - random small models that ONNX Runtime and podbench compute alike, and how many each refuses.
#
# usage: MUTATE=build/tests/onnx/mutate OUTPUTS=build/tests/onnx/outputs mutants.sh MODULES SEED N, with onnxruntime-node in the folder MODULES
set -eu
if ! NODE_PATH=$1 node -e 'require("onnxruntime-node")' 2>/dev/null; then
    echo "skipped: node or onnxruntime-node is missing in $1; npm install --ignore-scripts onnxruntime-node"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/models"
"$MUTATE" "$work/models" "$2" "$3"
NODE_PATH=$1 node tests/onnx/runtime.js "$work/models" >"$work/runtime" 2>/dev/null || true
"$OUTPUTS" "$work/models" >"$work/outputs" 2>&1 || true
grep -v '^ok' "$work/outputs" || true
refused=$(grep -c '^not ok.*: node' "$work/outputs" || true)
echo "$3 models: ONNX Runtime refuses $(grep -c '^not ok' "$work/runtime" || true), podbench refuses $refused," \
    "$(grep -c '^ok' "$work/outputs") agree, $(($(grep -c '^not ok' "$work/outputs" || true) - refused)) differ"
! grep '^not ok' "$work/outputs" | grep -qv ': node'
