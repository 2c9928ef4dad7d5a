// SPDX-License-Identifier: GPL-3.0-or-later
// runtime.js - runs each NAME.onnx of a folder with ONNX Runtime and writes its first output as NAME_output_0.pb, a TensorProto, for
// outputs.c to compare with. Inputs are as there: i / n for floats, i % 2 for whole numbers.
//
// usage: node runtime.js FOLDER; onnxruntime-node is found by NODE_PATH.
'use strict';
const fs = require('fs'), path = require('path');
const ort = require('onnxruntime-node');

const arrays = { float32: Float32Array, int32: Int32Array, int64: BigInt64Array, bool: Uint8Array };

function filled(type, dims) {
    const n = dims.reduce((a, b) => a * b, 1), data = new arrays[type](n);
    for (let i = 0; i < n; i++)
        data[i] = type === 'float32' ? i / n : type === 'int64' ? BigInt(i % 2) : i % 2;
    return new ort.Tensor(type, data, dims);
}

function varint(x) {
    const bytes = [];
    for (; x > 127; x = Math.floor(x / 128))
        bytes.push(x % 128 + 128);
    return Buffer.from([...bytes, x]);
}

// TensorProto: dims are field 1, data_type (1: float) field 2, raw_data field 9
function proto(tensor) {
    const raw = Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
    const dims = tensor.dims.map(d => Buffer.concat([varint(1 << 3), varint(d)]));
    return Buffer.concat([...dims, varint(2 << 3), varint(1), varint(9 << 3 | 2), varint(raw.length), raw]);
}

async function run(folder, name) {
    const session = await ort.InferenceSession.create(path.join(folder, name), { graphOptimizationLevel: 'basic' });
    const feeds = {};
    for (const input of session.inputMetadata)
        feeds[input.name] = filled(input.type, input.shape.map(d => typeof d === 'number' ? d : 1));
    const results = await session.run(feeds), first = results[session.outputNames[0]];
    if (first.type !== 'float32')
        throw new Error(`the first output is of type ${first.type}`);
    fs.writeFileSync(path.join(folder, name.replace(/\.onnx$/, '_output_0.pb')), proto(first));
}

(async () => {
    const folder = process.argv[2];
    for (const name of fs.readdirSync(folder).filter(f => f.endsWith('.onnx')).sort())
        try {
            await run(folder, name);
        } catch (e) {
            console.log(`not ok ${name}: ONNX Runtime: ${e.message}`);
            process.exitCode = 1;
        }
})();
