#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the graphs of single operators into this folder: lookups, recurrent layers, and nodes of the domain of ../operators/stencils.csv.

    python3 workloads/recipes/graphs/make_operators.py

It needs nothing else: an ONNX file is a message of protobuf, of which these graphs use few fields.
"""
import os

FLOAT, INT64 = 1, 7


def number(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def whole(field, n):
    return number(field << 3) + number(n)


def part(field, content):
    content = content.encode() if isinstance(content, str) else content
    return number(field << 3 | 2) + number(len(content)) + content


def attribute(name, value):
    text = isinstance(value, str)
    return part(1, name) + (part(4, value) + whole(20, 3) if text else whole(3, value) + whole(20, 2))


def node(kind, inputs, outputs, domain="", **attributes):
    out = b"".join(part(1, i) for i in inputs) + b"".join(part(2, o) for o in outputs) + part(4, kind)
    return out + b"".join(part(5, attribute(*a)) for a in attributes.items()) + (part(7, domain) if domain else b"")


def value(name, dims, kind=FLOAT):
    sizes = b"".join(part(1, whole(1, d) if isinstance(d, int) else part(2, d)) for d in dims)
    return part(1, name) + part(2, part(1, whole(1, kind) + part(2, sizes)))


def weight(name, dims):
    """A weight that has a shape and no values."""
    return b"".join(whole(1, d) for d in dims) + whole(2, FLOAT) + part(8, name)


def save(name, nodes, inputs, outputs, weights=(), domain=""):
    graph = b"".join(part(1, n) for n in nodes) + part(2, name) + b"".join(part(5, w) for w in weights)
    graph += b"".join(part(11, i) for i in inputs) + b"".join(part(12, o) for o in outputs)
    opsets = part(8, part(1, "") + whole(2, 18)) + (part(8, part(1, domain) + whole(2, 1)) if domain else b"")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".onnx")
    with open(path, "wb") as f:
        f.write(whole(1, 8) + part(2, "podbench") + part(7, graph) + opsets)


def codelet(name, kind, fields, dims, results=("y",)):
    nodes = [node(kind, fields, results, "stencils")]
    save(name, nodes, [value(f, dims) for f in fields], [value(r, dims) for r in results], domain="stencils")


def recurrence(name, kind, gates, width=1024, steps=25):
    weights = [weight("w", [1, gates * width, width]), weight("r", [1, gates * width, width]), weight("b", [1, 2 * gates * width])]
    save(name, [node(kind, ["x", "w", "r", "b"], ["y"], hidden_size=width)], [value("x", [steps, "batch", width])],
         [value("y", [steps, 1, "batch", width])], weights)


def main():
    table, plane, space = value("table", ["rows", "width"]), ["height", "width"], ["height", "width", "depth"]
    save("gather-rows", [node("Gather", ["table", "index"], ["y"], axis=0)], [table, value("index", ["lookups"], INT64)],
         [value("y", ["lookups", "width"])])
    save("scatter-add-rows", [node("ScatterND", ["table", "index", "added"], ["y"], reduction="add")],
         [table, value("index", ["updates", 1], INT64), value("added", ["updates", "width"])], [value("y", ["rows", "width"])])
    recurrence("gru-1024", "GRU", 3)
    recurrence("lstm-1024", "LSTM", 4)
    for kind in ("Half4", "Float2", "Float"):
        codelet("gaussian-blur-" + kind.lower(), "GaussianBlur" + kind, ["x"], plane + [4])
    codelet("heat-2d", "Heat2D", ["x"], plane)
    codelet("heat-3d", "Heat3D", ["x"], space)
    codelet("aliev-panfilov", "AlievPanfilov", ["e", "r"], plane, ["e2", "r2"])
    codelet("diffusion-3d-order4", "Diffusion3DOrder4", ["x"], space)
    codelet("wave-3d-order4", "Wave3DOrder4", ["t0", "t1", "damp", "vp"], space)


if __name__ == "__main__":
    main()
