# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the nets of fashion.ini and digits.ini in PyTorch, with its own first weights and code of its own for data, rates and decoding: targets come from it.

usage: torch_trainings.py fashion|digits SEED... Prints seed, samples, quality of each evaluation, as CSV. Data, rates and steps are those of the recipe.
"""
import gzip
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def rate(step, base, end, warmup, decay):
    """Rises for the warm-up, then falls in a line."""
    return base * (step + 1) / warmup if step < warmup else end + (base - end) * max(0, 1 - (step - warmup) / decay)


# ---- images: a residual network of 8 layers with group norms ----

class Unit(nn.Module):
    def __init__(self, n_in, n_out, stride):
        super().__init__()
        conv = lambda n, size, by: nn.Conv2d(n, n_out, size, by, size // 2, bias=False)
        self.first, self.second, self.shortcut = conv(n_in, 3, stride), conv(n_out, 3, 1), conv(n_in, 1, stride) if stride > 1 else None
        self.norms = nn.ModuleList(nn.GroupNorm(4, n_out) for _ in range(3 if stride > 1 else 2))

    def forward(self, x):
        y = self.norms[1](self.second(F.relu(self.norms[0](self.first(x)))))
        return F.relu(y + (self.norms[2](self.shortcut(x)) if self.shortcut else x))


class Images:
    per_step, every, n_eval = 128, 60, 2000
    schedule = 0.2, 0.002, 50, 650

    def __init__(self):
        folder = "/usr/share/datasets/fashion-mnist/"
        load = lambda name, head: torch.from_numpy(np.frombuffer(gzip.open(folder + name).read(), np.uint8)[head:].copy())
        parts = [(load(f"{p}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28).float() / 255, load(f"{p}-labels-idx1-ubyte.gz", 8).long()) for p in ("train", "t10k")]
        self.train, (x, y) = parts[0], parts[1]
        self.eval = x[:self.n_eval], y[:self.n_eval]

    def net(self):
        net = nn.Sequential(nn.Conv2d(1, 8, 3, 1, 1, bias=False), nn.GroupNorm(4, 8), nn.ReLU(), Unit(8, 8, 1), Unit(8, 16, 2), Unit(16, 32, 2),
                            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
        return net, torch.optim.SGD(net.parameters(), 1, 0.9, weight_decay=0.0005)

    loss = staticmethod(lambda net, x, y: F.cross_entropy(net(x), y))

    def quality(self, net):
        return (net(self.eval[0]).argmax(1) == self.eval[1]).float().mean().item()


# ---- speech: a transducer of 1 + 1 LSTM layers ----

class Transducer(nn.Module):
    def __init__(self):
        super().__init__()
        lstm = lambda n, width: nn.LSTM(n, width, batch_first=True)
        self.first, self.second, self.predictor, self.table = lstm(120, 64), lstm(128, 64), lstm(32, 32), nn.Embedding(10, 32)
        self.from_sound, self.from_labels, self.out = nn.Linear(64, 64), nn.Linear(32, 64), nn.Linear(64, 11)

    def sound(self, x):
        x = F.dropout(self.first(x)[0], DROPOUT, self.training)
        x = F.dropout(self.second(x.reshape(len(x), x.shape[1] // 2, -1))[0], DROPOUT, self.training)
        return self.from_sound(x)

    def labels(self, y):
        """The predictor reads 0, then the labels."""
        return self.from_labels(F.dropout(self.predictor(self.table(F.pad(y, (1, 0))))[0], DROPOUT_PREDICTOR, self.training))

    def scores(self, sound, labels):
        return F.log_softmax(self.out(F.dropout(F.relu(sound + labels), DROPOUT_JOINT, self.training)), -1)


DROPOUT, DROPOUT_PREDICTOR, DROPOUT_JOINT = 0.1, 0.3, 0.3


class Speech:
    per_step, every, n_eval = 16, 125, 200
    schedule = 0.006, 0.0001, 50, 1450

    def __init__(self):
        load = lambda name: torch.from_numpy(np.load(f"build/data/digits/{name}.npy"))
        self.train = load("train-features"), load("train-labels").long()
        self.eval = load("eval-features")[:self.n_eval], load("eval-labels")[:self.n_eval].long()

    def net(self):
        net = Transducer()
        return net, torch.optim.Adam(net.parameters(), 1, (0.9, 0.999), 1e-8)

    @staticmethod
    def loss(net, x, y):
        p = net.scores(net.sound(x)[:, :, None], net.labels(y)[:, None])
        blank, label = p[..., -1], p[:, :, :-1].gather(-1, y[:, None, :, None].expand(-1, p.shape[1], -1, 1))[..., 0]
        row = None
        for t in range(p.shape[1]):
            above = None if row is None else row + blank[:, t - 1]
            cells = [torch.zeros(len(x)) if above is None else above[:, 0]]
            for u in range(y.shape[1]):
                left = cells[-1] + label[:, t, u]
                cells.append(left if above is None else torch.logaddexp(left, above[:, u + 1]))
            row = torch.stack(cells, 1)
        return -(row[:, -1] + blank[:, -1, -1]).mean()

    def quality(self, net):
        """Word errors of greedy decoding, of all utterances at once: at each turn one goes to the next step of time, or has one more label."""
        (x, spoken), every = self.eval, torch.arange(self.n_eval)
        sound, time, n, found = net.sound(x), torch.zeros(self.n_eval).long(), torch.zeros(self.n_eval).long(), torch.zeros_like(spoken)
        for _ in range(sound.shape[1] + spoken.shape[1]):
            best = net.scores(sound[every, time.clamp(max=sound.shape[1] - 1)], net.labels(found)[every, n]).argmax(-1)
            hit = (best < 10) & (n < spoken.shape[1]) & (time < sound.shape[1])
            found[every[hit], n[hit]] = best[hit]
            n, time = n + hit, time + ~hit
        return sum(distance(f[:k].tolist(), s.tolist()) for f, k, s in zip(found, n, spoken)) / spoken.numel()


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for k, y in enumerate(b, 1):
            corner, row[k] = row[k], min(row[k] + 1, row[k - 1] + 1, corner + (x != y))
    return row[-1]


def train(task, seed):
    torch.manual_seed(seed)
    net, optimizer = task.net()
    x, y = task.train
    order = torch.cat([torch.randperm(len(x)) for _ in range(1 + sum(task.schedule[2:]) * task.per_step // len(x))])
    for step in range(sum(task.schedule[2:])):
        optimizer.param_groups[0]["lr"] = rate(step, *task.schedule)
        items = order[step * task.per_step:][:task.per_step]
        optimizer.zero_grad()
        task.loss(net, x[items], y[items]).backward()
        optimizer.step()
        if (step + 1) % task.every == 0 or step + 1 == sum(task.schedule[2:]):
            net.eval()
            with torch.no_grad():
                print(f"{seed},{(step + 1) * task.per_step},{task.quality(net):.4f}", flush=True)
            net.train()


torch.set_num_threads(1)
print("seed,samples,quality")
for seed in sys.argv[2:]:
    train({"fashion": Images, "digits": Speech}[sys.argv[1]](), int(seed))
