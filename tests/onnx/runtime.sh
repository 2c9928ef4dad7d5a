#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# runtime.sh - ONNX Runtime runs built-in models that podbench has written, and gets what podbench's own execution gets.
#
# usage: PODBENCH=build/podbench OUTPUTS=build/tests/onnx/outputs WRITTEN=build/tests/onnx/written runtime.sh MODULES [MODEL...]
# MODULES is the folder that `npm install onnxruntime-node` has made. Models are written as inference, with weights from a seed.
set -eu
modules=$1
shift
if ! NODE_PATH=$modules node -e 'require("onnxruntime-node")' 2>/dev/null; then
    echo "skipped: node or onnxruntime-node is missing in $modules; npm install --ignore-scripts onnxruntime-node"
    exit 0
fi
[ $# -gt 0 ] || set -- conformer-medium resnet18 resnext50 mobilenet-v2 efficientnet-b0-g16 densenet121 inception-v3 vgg11 vit-s16 bert-base
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for model; do
    "$PODBENCH" workload "$model" --set recipe.mode=infer --onnx "$work/$model.onnx" --weights 1 >/dev/null
done
"$WRITTEN" "$work"          # large families in small sizes
NODE_PATH=$modules node tests/onnx/runtime.js "$work"
"$OUTPUTS" "$work"
