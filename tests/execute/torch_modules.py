# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains small models in PyTorch from the numbers that torch_steps wrote, in fp32 and in fp64, and compares losses and gradients.

usage: torch_modules.py FOLDER LOSSES. Each setting is trained twice: "one step" begins every step with podbench's weights, "20 steps" with its own. Differences
are relative; of gradients, the norm of the difference over the norm, all weights together. Prints the worst differences of podbench in fp32 and of PyTorch in
fp32, both from PyTorch in fp64; those of podbench's kernels in double from PyTorch in fp64 ("exact"); and how many choices of PyTorch's two types differ: signs
of inputs of ReLUs, places of a pool's maxima. Writes PyTorch's losses over 20 steps to LOSSES (setting,step,turned,fp32,fp64). Exit status 1 where "exact" is
farther off than 1e-11, or where podbench is farther from fp64 than 1e-5, unless PyTorch in fp32 is, too, and podbench not four times as far.
Where a choice turned, "20 steps" in fp32 is printed, and not judged: one side may turn and the other not. With AdamW and LAMB losses alone are compared.
"""
import math
import os
import sys

import torch
import torch.nn.functional as F

STEPS, MICRO_BATCHES, MOMENTUM, BOUND, TIMES, EXACT_BOUND = 20, 3, 0.9, 1e-5, 4, 1e-11


class Numbers:
    """One setting's files: arrays are taken in the order in which they were written."""

    def __init__(self, folder, name):
        self.shapes = {"weight": [], "input": []}
        rate, *lines = open(os.path.join(folder, name + ".shapes"))
        self.rate, self.optimizer = float(rate.split()[1]), rate.split()[2]
        for line in lines:
            kind, *dims = line.split()
            self.shapes[kind].append([int(d) for d in dims])
        self.file = open(os.path.join(folder, name + ".numbers"), "rb")
        self.exact = open(os.path.join(folder, name + ".exact"), "rb") if self.optimizer == "sgd" else None

    def take(self, shape):
        return torch.frombuffer(bytearray(self.file.read(4 * math.prod(shape))), dtype=torch.float32).reshape(shape).clone()

    def take_exact(self):
        """Loss and gradients of a step in double precision."""
        loss, *gradients = (torch.frombuffer(bytearray(self.exact.read(8 * math.prod(s))), dtype=torch.float64).reshape(s) for s in [[]] + self.shapes["weight"])
        return loss, gradients

    def take_all(self, kind):
        return [self.take(shape) for shape in self.shapes[kind]]


SMOOTH = False      # tanh takes the place of ReLU, and the mean of a window that of its largest element
CHOICES = []        # signs of the inputs of all ReLUs, places of all largest elements, since it was emptied


def rectify(x):
    if SMOOTH:
        return torch.tanh(x)
    CHOICES.append(x.detach() > 0)
    return F.relu(x)


def pool(x):
    if SMOOTH:
        return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
    x, places = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    CHOICES.append(places)
    return x


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
    y = conv_norm(rectify(conv_norm(x, w, stride)), w, 1)
    return rectify(y + (conv_norm(x, w, stride) if stride > 1 else x))


def resnet(w, inputs, units=1):
    images, labels = inputs
    x = rectify(conv_norm(images.permute(0, 3, 1, 2) / 255, w, 2))
    x = pool(x)
    for stage in range(2):
        for i in range(units):
            x = unit(x, w, 1 + (stage > 0 and i == 0))
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
    zeros = torch.zeros(1, len(x), len(recurrent), dtype=x.dtype)
    weights = [kernel.t(), recurrent.t(), *bias.chunk(2)]
    return torch._VF.lstm(x, (zeros, zeros), weights, True, 1, 0.0, True, False, True)[0]


def transducer_loss(scores, labels):
    """The mean over samples of -log P(labels), summed over all paths (Graves 2012); the last symbol is blank."""
    p = F.log_softmax(scores, -1)
    total = 0
    for b in range(len(p)):
        t, u = p.shape[1], labels.shape[1]
        alpha = {(0, 0): torch.zeros((), dtype=p.dtype)}
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
    return transducer_loss(dense(rectify(x[:, :, None] + y[:, None]), w), labels.long())


def off(found, expected):
    """The norm of the difference over the norm of what is expected."""
    difference = sum(float(((f.double() - e.double()) ** 2).sum()) for f, e in zip(found, expected))
    return math.sqrt(difference / sum(float((e.double() ** 2).sum()) for e in expected))


def run(model, weights, batches):
    """The mean loss over the micro-batches, with the weights' gradients."""
    for w in weights:
        w.grad = None
    loss = sum(model(iter(weights), batch) for batch in batches) / MICRO_BATCHES
    loss.backward()
    return loss.detach(), [w.grad for w in weights]


class Lamb(torch.optim.Optimizer):
    """LAMB (You et al. 2020, algorithm 2): steps of AdamW, those of matrices as long as the rate's share of their norm."""

    def __init__(self, weights, rate, betas, epsilon, decay):
        super().__init__(weights, {})
        self.rate, self.betas, self.epsilon, self.decay, self.n = rate, betas, epsilon, decay, 0

    @torch.no_grad()
    def step(self):
        self.n += 1
        for w in self.param_groups[0]["params"]:
            moments = self.state[w].setdefault("moments", [torch.zeros_like(w), torch.zeros_like(w)])
            m, s = (m.mul_(b).add_((1 - b) * w.grad ** k) / (1 - b ** self.n) for m, b, k in zip(moments, self.betas, (1, 2)))
            direction = m / (s.sqrt() + self.epsilon) + self.decay * w
            w -= self.rate * direction * (w.norm() / direction.norm() if w.dim() > 1 else 1)


class Trained:
    """A model with weights of its own in one type; the worst differences from a twin in fp64 are kept."""

    def __init__(self, model, weights, numbers, dtype):
        self.model, self.dtype = model, dtype
        self.weights = [w.to(dtype, copy=True).requires_grad_() for w in weights]
        adam = (self.weights, numbers.rate, (MOMENTUM, 0.999), 1e-6, 0.01)
        self.optimizer = {"sgd": lambda: torch.optim.SGD(self.weights, numbers.rate, MOMENTUM), "adamw": lambda: torch.optim.AdamW(*adam),
                          "lamb": lambda: Lamb(*adam)}[numbers.optimizer]()

    def step(self, batches):
        self.loss, self.gradients = run(self.model, self.weights, [[x.to(self.dtype) for x in batch] for batch in batches])
        self.optimizer.step()

    def at(self, weights, batches):
        """Loss and gradients at other weights."""
        return run(self.model, [w.to(self.dtype, copy=True).requires_grad_() for w in weights], [[x.to(self.dtype) for x in batch] for batch in batches])


def worst(rows, found, exact):
    """The larger of each; what is no number is infinitely far off."""
    return [max(row, math.inf if math.isnan(value) else value) for row, value in zip(rows, (off([found[0]], [exact[0]]), off(found[1], exact[1])))]


def with_choices(trained, weights, batches):
    """Loss and gradients at other weights, and what was chosen on the way."""
    CHOICES.clear()
    return trained.at(weights, batches), list(CHOICES)


def compare(folder, name, losses):
    global SMOOTH
    numbers, model = Numbers(folder, name), MODELS[name.split("-")[0]]
    SMOOTH = "smooth" in name
    if "deeper" in name:
        model = lambda w, inputs: resnet(w, inputs, 2)
    ours, theirs, exact_off, turned = ([0, 0], [0, 0]), ([0, 0], [0, 0]), [0, 0], 0      # one step, 20 steps
    for step in range(STEPS):
        weights = numbers.take_all("weight")
        if step == 0:
            narrow, wide = (Trained(model, weights, numbers, dtype) for dtype in (torch.float32, torch.float64))
        batches = [numbers.take_all("input") for _ in range(MICRO_BATCHES)]
        found = numbers.take([]), numbers.take_all("weight")
        (exact, choices), (rough, rough_choices) = with_choices(wide, weights, batches), with_choices(narrow, weights, batches)
        turned_now = sum(int((a != b).sum()) for a, b in zip(choices, rough_choices))
        narrow.step(batches)
        wide.step(batches)
        twin, twin_rough = (wide.loss, wide.gradients), (narrow.loss, narrow.gradients)
        if numbers.exact:
            exact_off = worst(exact_off, numbers.take_exact(), twin)
        ours = tuple(worst(o, found if numbers.exact else (found[0], e[1]), e) for o, e in zip(ours, (exact, twin)))
        theirs = worst(theirs[0], rough, exact), worst(theirs[1], twin_rough, twin)
        losses.write(f"{name},{step},{turned_now},{narrow.loss.item():.9g},{wide.loss.item():.17g}\n")
        turned += turned_now
    good = max(exact_off) <= EXACT_BOUND
    for what, a, b in zip(("one step", "20 steps"), ours, theirs):
        passes = all(x <= max(BOUND, TIMES * y) for x, y in zip(a, b))
        judged = what == "one step" or not turned
        good = good and (passes or not judged)
        end = f"{exact_off[0]:8.1e} {exact_off[1]:8.1e}" if what == "20 steps" and numbers.exact else " " * 17
        gradients = f"{a[1]:8.1e} {b[1]:8.1e}" if numbers.exact else f"{'-':>8} {'-':>8}"
        print(f"{name:20} {what:9} {a[0]:8.1e} {b[0]:8.1e} {gradients} {turned:7} {end}  {'' if passes else 'missed' if judged else 'missed, not judged'}")
    return good


MODELS = {"resnet": resnet, "bert": bert, "rnnt": rnnt}


def main():
    torch.set_num_threads(1)
    print(f"{'setting':20} {'over':9} {'loss':>8} {'torch':>8} {'gradient':>8} {'torch':>8}  turned {'exact':>8} gradient")
    names = sorted((f[:-7] for f in os.listdir(sys.argv[1]) if f.endswith(".shapes")), key=lambda n: (list(MODELS).index(n.split("-")[0]), n))
    with open(sys.argv[2], "w") as losses:
        losses.write("setting,step,turned,fp32,fp64\n")
        good = [compare(sys.argv[1], name, losses) for name in names]
    sys.exit(0 if all(good) else 1)


main()
