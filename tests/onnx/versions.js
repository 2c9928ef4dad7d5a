// SPDX-License-Identifier: GPL-3.0-or-later
// versions.js - what ONNX Runtime computes for each line of versions.txt, as t_versions.c reads it. Refusals (!) are kept.
//
// usage: node versions.js FOLDER VERSIONS; mutate FOLDER VERSIONS has written the models. onnxruntime-node is found by NODE_PATH.
'use strict';
const fs = require('fs'), path = require('path');
const ort = require('onnxruntime-node');

const value = i => i * 5 % 7 / 2 - 1.5;

async function run(file) {
    const session = await ort.InferenceSession.create(file, { graphOptimizationLevel: 'disabled', logSeverityLevel: 4 }), feeds = {};
    for (const input of session.inputMetadata) {
        const n = input.shape.reduce((a, b) => a * b, 1), whole = input.type === 'int64';
        const data = whole ? BigInt64Array.from({ length: n }, (_, i) => BigInt(i % 2)) : Float32Array.from({ length: n }, (_, i) => value(i));
        feeds[input.name] = new ort.Tensor(input.type, data, input.shape);
    }
    const y = (await session.run(feeds)).y;
    return `${y.dims}: ${[...y.data].map(v => Number(v).toPrecision(6) * 1).join(' ')}`;
}

(async () => {
    const lines = fs.readFileSync(process.argv[3], 'utf8').split('\n');
    let i = 0;
    for (let k = 0; k < lines.length; k++) {
        if (!lines[k].startsWith('@'))
            continue;
        const file = path.join(process.argv[2], `v${String(i++).padStart(5, '0')}.onnx`), next = lines[k + 1] || '';
        console.log(lines[k]);
        console.log(next.trim().startsWith('!') ? next : '    ' + await run(file).catch(e => 'refused: ' + e.message.replace(/\n/g, ' ').slice(0, 150)));
    }
})();
