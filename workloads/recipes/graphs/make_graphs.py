#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the graphs of published programs that no built-in model describes, as ONNX files without weights, into this folder.

    /usr/bin/python3 workloads/recipes/graphs/make_graphs.py

It needs Debian's python3-onnx. Each function names the source that its sizes come from. Weights have shapes alone, in a
file that does not exist (external data), which podbench never reads. The graphs of YOLOv4-P5, of SchNet and of the
galaxy CNN in this folder were traced from their sources with the same helpers, and are not written here.
"""
import math
import os
from onnx import TensorProto, helper, save

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def layer_property(layer):
    """An entry of a node's metadata_props, its field 9, which Debian's python3-onnx does not know: podbench.layer = role, block, part, parts, name."""
    def field(number, content):
        return bytes([8 * number + 2, len(content)]) + content
    return field(9, field(1, b"podbench.layer") + field(2, layer.encode()))


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.inputs, self.n, self.layer = [], [], [], 0, None

    def name(self, prefix="t"):
        self.n += 1
        return f"{prefix}{self.n}"

    def weight(self, *dims, name=None):
        """A weight that has a shape and no values."""
        t = TensorProto(name=name or self.name("w"), data_type=FLOAT, dims=dims)
        t.data_location = TensorProto.EXTERNAL
        t.external_data.add(key="location", value="weights.bin")
        self.weights.append(t)
        return t.name

    def constant(self, values, data_type=FLOAT, dims=None):
        name = self.name("c")
        self.weights.append(helper.make_tensor(name, data_type, [len(values)] if dims is None else dims, values))
        return name

    def input(self, name, dims, data_type=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, data_type, dims))
        return name

    def op(self, kind, *inputs, n=1, output=None, **attributes):
        outputs = [output or self.name() for _ in range(n)]
        node = helper.make_node(kind, list(inputs), outputs, **attributes)
        if self.layer:
            node.MergeFromString(layer_property(self.layer))
        self.nodes.append(node)
        return outputs[0] if n == 1 else outputs

    def linear(self, x, n_in, n_out, bias=True):
        y = self.op("MatMul", x, self.weight(n_in, n_out))
        return self.op("Add", y, self.weight(n_out)) if bias else y

    def conv(self, x, n_in, n_out, kernel, stride=1, groups=1, bias=True, pads=None):
        w = self.weight(n_out, n_in // groups, *kernel)
        attributes = dict(kernel_shape=kernel, strides=[stride] * len(kernel), group=groups, pads=pads or [0] * 2 * len(kernel))
        return self.op("Conv", x, w, *([self.weight(n_out)] if bias else []), **attributes)

    def gelu(self, x):
        y = self.op("Erf", self.op("Div", x, self.constant([math.sqrt(2)], dims=[])))
        y = self.op("Mul", x, self.op("Add", y, self.constant([1.0], dims=[])))
        return self.op("Mul", y, self.constant([0.5], dims=[]))

    def norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1, epsilon=1e-5)

    def reshape(self, x, dims):
        return self.op("Reshape", x, self.constant(dims, INT64))

    def heads(self, x, tokens, width, n_heads):
        return self.op("Transpose", self.reshape(x, [-1, tokens, n_heads, width // n_heads]), perm=[0, 2, 1, 3])

    def attention(self, x, y, n_x, n_y, width, n_heads, mask=None, separate=True):
        """x asks, y answers; n_x and n_y are their tokens."""
        if separate:
            q, k, v = self.linear(x, width, width), self.linear(y, width, width), self.linear(y, width, width)
        else:
            q, k, v = self.op("Split", self.linear(x, width, 3 * width), self.constant([width] * 3, INT64), n=3, axis=2)
        q, k, v = self.heads(q, n_x, width, n_heads), self.heads(k, n_y, width, n_heads), self.heads(v, n_y, width, n_heads)
        s = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        s = self.op("Div", s, self.constant([math.sqrt(width // n_heads)], dims=[]))
        if mask:
            s = self.op("Add", s, mask)
        z = self.op("Transpose", self.op("MatMul", self.op("Softmax", s, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self.reshape(z, [-1, n_x, width]), width, width)

    def feed_forward(self, x, width, inner, activation):
        y = self.linear(x, width, inner)
        return self.linear(self.op("Relu", y) if activation == "relu" else self.gelu(y), inner, width)

    def save(self, name, output, dims, data_type=FLOAT):
        graph = helper.make_graph(self.nodes, name, self.inputs, [helper.make_tensor_value_info(output, data_type, dims)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="podbench")
        model.ir_version = 8
        save(model, os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".onnx"))


def keras_mnist(name="keras-mnist", layers=None):
    """graphcore/examples 3cc8f81f, tutorials/tutorials/tensorflow2/keras: 34,826 parameters."""
    g = Graph()
    stem, conv, pool, head = layers or [None] * 4
    x = g.input("images", ["batch", 1, 28, 28])
    g.layer = stem
    x = g.op("MaxPool", g.op("Relu", g.conv(x, 1, 32, [3, 3])), kernel_shape=[2, 2], strides=[2, 2])
    g.layer = conv
    x = g.op("Relu", g.conv(x, 32, 64, [3, 3]))
    g.layer = pool
    x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Flatten", x, axis=1)
    x = g.op("Dropout", x, g.constant([0.5], dims=[]), g.constant([True], TensorProto.BOOL, dims=[]))
    g.layer = head
    x = g.linear(x, 1600, 10)
    g.save(name, x, ["batch", 10])


def keras_mnist_stages():
    """The same, in layers that its pipeline can be cut by: after the second convolution (README.md, PipelineStage)."""
    keras_mnist("keras-mnist-stages", ["0 0 0 1 stem", "1 0 0 1 conv2", "1 1 0 1 pool2", "2 0 0 1 head"])


def loader_cnn():
    """graphcore/examples 2d8b5653, tutorials/tutorials/pytorch/efficient_data_loading/tuto_data_loading.py: ClassificationModel."""
    g = Graph()
    x = g.input("images", ["batch", 1, 128, 128])
    x = g.op("MaxPool", g.op("Relu", g.conv(x, 1, 5, [3, 3])), kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Relu", g.conv(x, 5, 12, [5, 5]))
    # a group norm of 3 groups is an instance norm of 3 channels, scaled by channel
    y = g.op("InstanceNormalization", g.reshape(x, [0, 3, -1]), g.constant([1.0] * 3), g.constant([0.0] * 3))
    y = g.op("Add", g.op("Mul", g.reshape(y, [0, 12, 59, 59]), g.weight(12, 1, 1)), g.weight(12, 1, 1))
    y = g.op("Relu", g.linear(g.op("Flatten", y, axis=1), 41772, 100))
    g.save("loader-cnn", g.linear(y, 100, 10), ["batch", 10])


def popxl_mlp():
    """graphcore/examples 2d8b5653, tutorials/tutorials/popxl/5_remote_variables_and_rts/mnist.py: Net."""
    g = Graph()
    x = g.op("Flatten", g.input("images", ["batch", 28, 28]), axis=1)
    for n_in in (784, 512, 512):
        x = g.gelu(g.linear(x, n_in, 512))
    g.save("popxl-mlp", g.linear(x, 512, 10), ["batch", 10])


def pubmed_gcn():
    """PyTorch Geometric's GCN of two layers; a cluster batch of PubMed has 1,996 nodes and 14,891 edges, and GCNConv adds a loop to each node."""
    nodes, edges = 1996, 14891 + 1996
    g = Graph()
    x = g.input("x", [nodes, 500])
    source, target, weight = g.input("source", [edges], INT64), g.input("target", [edges, 1], INT64), g.input("weight", [edges, 1])
    for n_in, n_out in ((500, 64), (64, 3)):
        hidden = g.linear(x, n_in, n_out, bias=False)
        y = g.op("Mul", g.op("Gather", hidden, source, axis=0), weight)
        index = g.op("Expand", target, g.constant([edges, n_out], INT64))
        zero = g.op("Mul", hidden, g.constant([0.0], dims=[]))      # a tensor of zeros that is no weight
        y = g.op("Add", g.op("ScatterElements", zero, index, y, axis=0, reduction="add"), g.weight(n_out))
        x = g.op("Relu", y) if n_out == 64 else y
    g.save("pubmed-gcn", x, [nodes, 3])


def hubert_base():
    """HuBERT-Base for classes of keywords, by huggingface/transformers' HubertForSequenceClassification: one second of 16,000 samples, 12 classes."""
    g = Graph()
    x = g.input("audio", ["batch", 1, 16000])
    n_in, length = 1, 16000
    for i, (kernel, stride) in enumerate(((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2))):
        x = g.conv(x, n_in, 512, [kernel], stride, bias=False)
        n_in, length = 512, (length - kernel) // stride + 1
        if i == 0:
            x = g.op("InstanceNormalization", x, g.weight(512), g.weight(512))
        x = g.gelu(x)
    x = g.norm(g.op("Transpose", x, perm=[0, 2, 1]), 512)
    x = g.linear(x, 512, 768)
    y = g.conv(g.op("Transpose", x, perm=[0, 2, 1]), 768, 768, [128], groups=16, pads=[64, 63])
    x = g.norm(g.op("Add", x, g.op("Transpose", g.gelu(y), perm=[0, 2, 1])), 768)
    for _ in range(12):
        x = g.norm(g.op("Add", x, g.attention(x, x, length, length, 768, 12)), 768)
        x = g.norm(g.op("Add", x, g.feed_forward(x, 768, 3072, "gelu")), 768)
    x = g.op("ReduceMean", g.linear(x, 768, 256), axes=[1], keepdims=0)
    g.save("hubert-base", g.linear(x, 256, 12), ["batch", 12])


def own_transformer():
    """huggingface/optimum-graphcore 11896d6b, notebooks/train_unsupported_models.ipynb: 12 layers of torch's TransformerEncoderLayer, head tied."""
    tokens, width, vocabulary = 128, 768, 50257
    g = Graph()
    ids = g.input("ids", ["batch", tokens], INT64)
    table = g.weight(vocabulary, width, name="words")
    x = g.op("Add", g.op("Gather", table, ids, axis=0), g.weight(tokens, width))
    mask = g.weight(tokens, tokens, name="mask")
    for _ in range(12):
        x = g.norm(g.op("Add", x, g.attention(x, x, tokens, tokens, width, 12, mask=mask, separate=False)), width)
        x = g.norm(g.op("Add", x, g.feed_forward(x, width, 768, "relu")), width)
    x = g.op("MatMul", x, g.op("Transpose", table, perm=[1, 0]))
    g.save("own-transformer", g.op("Add", x, g.weight(vocabulary)), ["batch", tokens, vocabulary])


def lxmert():
    """huggingface/transformers' LxmertForQuestionAnswering: 9 layers of text, 5 of regions, 5 across; 512 tokens, 36 regions, 3,129 answers."""
    tokens, regions, width = 512, 36, 768
    g = Graph()
    ids = g.input("ids", ["batch", tokens], INT64)
    features, boxes = g.input("features", ["batch", regions, 2048]), g.input("boxes", ["batch", regions, 4])
    x = g.norm(g.op("Add", g.op("Gather", g.weight(30522, width), ids, axis=0), g.weight(tokens, width)), width)
    y = g.op("Add", g.norm(g.linear(features, 2048, width), width), g.norm(g.linear(boxes, 4, width), width))
    y = g.op("Div", y, g.constant([2.0], dims=[]))

    def layer(x, n):
        x = g.norm(g.op("Add", x, g.attention(x, x, n, n, width, 12)), width)
        return g.norm(g.op("Add", x, g.feed_forward(x, width, 3072, "gelu")), width)
    for _ in range(9):
        x = layer(x, tokens)
    for _ in range(5):
        y = layer(y, regions)
    for _ in range(5):
        across = g.norm(g.op("Add", x, g.attention(x, y, tokens, regions, width, 12)), width)
        y = g.norm(g.op("Add", y, g.attention(y, x, regions, tokens, width, 12)), width)
        x, y = layer(across, tokens), layer(y, regions)
    first = g.op("Gather", x, g.constant([0], INT64, dims=[]), axis=1)
    pooled = g.op("Tanh", g.linear(first, width, width))
    z = g.norm(g.gelu(g.linear(pooled, width, 2 * width)), 2 * width)
    # the last cross layer's regions reach no output, as in the source
    g.save("lxmert", g.linear(z, 2 * width, 3129), ["batch", 3129])


def hashed_dlrm():
    """graphcore-research/notebooks, compressed_dlrm: MLPs of 13-512-256-128 and 479-1024-1024-512-256-1, 26 tables, products of all pairs.

    The tables have 10.26 M parameters together, at most 5,000 rows each; which has how many is not stated: 3,083 each."""
    width, n_tables = 128, 26
    g = Graph()
    x = g.input("dense", ["batch", 13])
    sparse = g.input("sparse", ["batch", n_tables], INT64)
    for n_in, n_out in ((13, 512), (512, 256), (256, width)):
        x = g.op("Relu", g.linear(x, n_in, n_out))
    ids = g.op("Split", sparse, g.constant([1] * n_tables, INT64), n=n_tables, axis=1)
    rows = [g.op("Gather", g.weight(3083, width), i, axis=0) for i in ids]
    z = g.op("Concat", g.reshape(x, [-1, 1, width]), *rows, axis=1)
    n = n_tables + 1
    pairs = g.reshape(g.op("MatMul", z, g.op("Transpose", z, perm=[0, 2, 1])), [-1, n * n])
    below = [i * n + j for i in range(n) for j in range(i)]
    y = g.op("Concat", x, g.op("Gather", pairs, g.constant(below, INT64), axis=1), axis=1)
    for n_in, n_out in ((479, 1024), (1024, 1024), (1024, 512), (512, 256)):
        y = g.op("Relu", g.linear(y, n_in, n_out))
    g.save("hashed-dlrm", g.linear(y, 256, 1), ["batch", 1])


def efficientnet_edgetpu_l():
    """tensorflow/tpu models/official/efficientnet/edgetpu: EfficientNet-EdgeTPU-L, 1.2 times as wide and 1.4 times as deep; 224 pixels.

    Norms are folded into weights and biases, as in the profile of popliner (tests/test_profile.py)."""
    def same(x, n_in, n_out, kernel, stride, groups=1):
        before, after = (max(kernel - stride, 0)) // 2, (max(kernel - stride, 0) + 1) // 2      # of even fields
        return g.conv(x, n_in, n_out, [kernel, kernel], stride, groups, pads=[before, before, after, after])

    g = Graph()
    x, n_in = g.op("Relu", same(g.input("images", ["batch", 3, 224, 224]), 3, 32, 3, 2)), 32
    for repeats, kernel, stride, wider, n_out, full, skips in ((2, 3, 1, 4, 32, True, False), (3, 3, 2, 8, 40, True, True), (6, 3, 2, 8, 56, True, True),
                                                               (7, 5, 2, 8, 112, False, True), (6, 5, 1, 8, 176, False, True), (3, 5, 2, 8, 232, False, True)):
        for i in range(repeats):
            width, first = wider * n_in, stride if i == 0 else 1
            if full:
                y = g.op("Relu", same(x, n_in, width, kernel, 1))       # MBConvBlockWithoutDepthwise: the second convolution strides
            else:
                y = g.op("Relu", same(x, n_in, width, 1, 1))
                y = g.op("Relu", same(y, width, width, kernel, first, groups=width))
            y = same(y, width, n_out, 1, first if full else 1)
            x, n_in = g.op("Add", y, x) if skips and i else y, n_out
    x = g.op("Relu", same(x, n_in, 1280, 1, 1))
    g.save("efficientnet-edgetpu-l", g.linear(g.op("Flatten", g.op("GlobalAveragePool", x)), 1280, 1001), ["batch", 1001])


def main():
    for write in (efficientnet_edgetpu_l, keras_mnist, keras_mnist_stages, loader_cnn, popxl_mlp, pubmed_gcn, hubert_base, own_transformer, lxmert, hashed_dlrm):
        write()


if __name__ == "__main__":
    main()
