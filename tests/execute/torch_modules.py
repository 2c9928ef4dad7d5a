# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains three small models in PyTorch from the numbers that torch_steps wrote, and compares losses and gradients.

usage: torch_modules.py FOLDER LOSSES. Prints a row for each model, and writes PyTorch's losses to LOSSES (model,step,loss). Exit status 1 where a loss, or
all gradients of a step together differ by more than 1e-5: the norm of the difference over their norm.
"""
import math
import os
import sys

import torch
import torch.nn.functional as F

STEPS, MICRO_BATCHES, RATE, MOMENTUM, BOUND = 20, 3, 0.001, 0.9, 1e-5


class Numbers:
    """One model's file: arrays are taken in the order in which they were written."""

    def __init__(self, folder, name):
        self.shapes = {"weight": [], "input": []}
        for line in open(os.path.join(folder, name + ".shapes")):
            kind, *dims = line.split()
            self.shapes[kind].append([int(d) for d in dims])
        self.file = open(os.path.join(folder, name + ".numbers"), "rb")

    def take(self, shape):
        n = math.prod(shape)
        return torch.frombuffer(bytearray(self.file.read(4 * n)), dtype=torch.float32).reshape(shape).clone()

    def take_all(self, kind):
        return [self.take(shape) for shape in self.shapes[kind]]


def dense(x, w, bias=True):
    x = x @ next(w)
    return x + next(w) if bias else x


def layer_norm(x, w):
    return F.layer_norm(x, x.shape[-1:], next(w), next(w), 1e-5)


def conv_norm(x, w, stride):
    kernel = next(w)        # [height, width, in, out]
    x = F.conv2d(x, kernel.permute(3, 2, 0, 1), stride=stride, padding=kernel.shape[0] // 2)
    return F.batch_norm(x, None, None, next(w), next(w), True, 0, 1e-5)


def unit(x, w, stride):
    y = conv_norm(F.relu(conv_norm(x, w, stride)), w, 1)
    return F.relu(y + (conv_norm(x, w, stride) if stride > 1 else x))


def resnet(w, inputs):
    images, labels = inputs
    x = F.relu(conv_norm(images.permute(0, 3, 1, 2) / 255, w, 2))
    x = F.max_pool2d(x, 3, 2, 1)
    x = unit(unit(x, w, 1), w, 2)
    return F.cross_entropy(dense(x.mean((2, 3)), w), labels.long())


def attention(x, w, heads):
    b, t, width = x.shape
    q, k, v = (y.reshape(b, t, heads, -1).transpose(1, 2) for y in dense(x, w).chunk(3, -1))
    shares = F.softmax(q @ k.transpose(2, 3) / math.sqrt(width // heads), -1)
    return dense((shares @ v).transpose(1, 2).reshape(b, t, width), w)


def bert(w, inputs):
    tokens, positions, types, masked, labels, starts, follows = (x.long() for x in inputs)
    table = next(w)
    x = F.embedding(tokens, table) + F.embedding(positions, next(w)) + F.embedding(types, next(w))
    x = layer_norm(x, w)
    for _ in range(2):
        x = layer_norm(attention(x, w, 3) + x, w)
        x = layer_norm(dense(F.gelu(dense(x, w), approximate="tanh"), w) + x, w)
    rows = torch.arange(len(x))[:, None]
    y = layer_norm(F.gelu(dense(x[rows, masked], w), approximate="tanh"), w)
    loss = F.cross_entropy((y @ table.t() + next(w)).flatten(0, 1), labels.flatten())
    y = dense(torch.tanh(dense(x[rows, starts], w)), w)
    return loss + F.cross_entropy(y.flatten(0, 1), follows.flatten())


def lstm(x, w):
    kernel, recurrent, bias = next(w), next(w), next(w)
    zeros = torch.zeros(1, len(x), len(recurrent))
    weights = [kernel.t(), recurrent.t(), *bias.chunk(2)]
    return torch._VF.lstm(x, (zeros, zeros), weights, True, 1, 0.0, True, False, True)[0]


def transducer_loss(scores, labels):
    """The mean over samples of -log P(labels), summed over all paths (Graves 2012); the last symbol is blank."""
    p = F.log_softmax(scores, -1)
    total = 0
    for b in range(len(p)):
        t, u = p.shape[1], labels.shape[1]
        alpha = {(0, 0): torch.zeros(())}
        for i in range(t):
            for j in range(u + 1):
                ways = [alpha[i - 1, j] + p[b, i - 1, j, -1]] if i else []
                ways += [alpha[i, j - 1] + p[b, i, j - 1, labels[b, j - 1]]] if j else []
                if ways:
                    alpha[i, j] = torch.logsumexp(torch.stack(ways), 0)
        total = total - (alpha[t - 1, u] + p[b, t - 1, u, -1])
    return total / len(p)


def rnnt(w, inputs):
    x, previous, labels = inputs
    x = lstm(lstm(x, w), w)
    x = lstm(x.reshape(len(x), x.shape[1] // 2, -1), w)
    y = lstm(lstm(F.embedding(previous.long(), next(w)), w), w)
    x, y = dense(x, w), dense(y, w)
    return transducer_loss(dense(F.relu(x[:, :, None] + y[:, None]), w), labels.long())


def off(found, expected):
    """The norm of the difference over the norm of what is expected."""
    difference = sum(float(((f - e) ** 2).sum()) for f, e in zip(found, expected))
    return math.sqrt(difference / sum(float((e ** 2).sum()) for e in expected))


def train(folder, name, model, losses):
    numbers = Numbers(folder, name)
    weights = [w.requires_grad_() for w in numbers.take_all("weight")]
    optimizer = torch.optim.SGD(weights, RATE, MOMENTUM)
    worst_loss = worst_gradient = 0
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = sum(model(iter(weights), numbers.take_all("input")) for _ in range(MICRO_BATCHES)) / MICRO_BATCHES
        loss.backward()
        worst_loss = max(worst_loss, off([numbers.take([])], [loss.detach()]))
        worst_gradient = max(worst_gradient, off(numbers.take_all("weight"), [w.grad for w in weights]))
        losses.write(f"{name},{step},{loss.item():.9g}\n")
        optimizer.step()
    print(f"{name:8} {STEPS} steps, {sum(w.numel() for w in weights)} parameters: losses {loss.item():.6g} at last, worst relative difference "
          f"of a loss {worst_loss:.1e}, of a gradient {worst_gradient:.1e}")
    return worst_loss <= BOUND and worst_gradient <= BOUND


def main():
    torch.set_num_threads(1)
    with open(sys.argv[2], "w") as losses:
        losses.write("model,step,loss\n")
        good = [train(sys.argv[1], model.__name__, model, losses) for model in (resnet, bert, rnnt)]
    sys.exit(0 if all(good) else 1)


main()
