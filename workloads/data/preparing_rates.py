#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what one core needs to prepare a sample (hosts.sample_s): rows of text that become tensors, and JPEG files of ImageNet's size.
Needs python3-torch and python3-torchvision. Noise whose amplitude falls as 1/f stands for a photograph; 110 kB is the mean file of ImageNet.
A library of data sets keeps its rows in Arrow tables, whose Python makes an object of each number before it is a number of a list (to_pylist).
Arrow is in no package of Debian 12, so a small class stands for that object: its library does more for each."""
import resource
import torch
import torchvision


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def least_s(work, n):
    times = []
    for _ in range(5):
        start = cpu_s()
        work()
        times.append((cpu_s() - start) / n)
    return min(times)


class Number:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def as_py(self):
        return self.value


class Rows(torch.utils.data.Dataset):
    def __init__(self, tokens, in_table, n=2048, columns=3):
        self.in_table, self.rows = in_table, [[torch.arange(tokens).numpy() for _ in range(columns)] for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        lists = [column.tolist() for column in self.rows[i]]
        return [[Number(x).as_py() for x in column] for column in lists] if self.in_table else lists


def tensors(rows):
    return [torch.tensor(column) for column in zip(*rows)]


def photograph(height=375, width=500):
    f = (torch.fft.fftfreq(height)[:, None] ** 2 + torch.fft.fftfreq(width)[None] ** 2).sqrt()
    f[0, 0] = 1
    grey, *colours = (torch.fft.ifft2(torch.fft.fft2(torch.randn(height, width)) / f).real for _ in range(4))
    x = torch.stack([grey + 0.3 * c for c in colours])
    return ((x - x.mean()) / x.std() * 55 + 120).clamp(0, 255).to(torch.uint8)


torch.set_num_threads(1)
torch.manual_seed(1)
for tokens in 384, 512:
    for in_table in False, True:
        loader = torch.utils.data.DataLoader(Rows(tokens, in_table), batch_size=256, shuffle=True, collate_fn=tensors)
        place = "in a table, an object for each number" if in_table else "as lists"
        print(f"row of {tokens} tokens, 3 columns, {place}: {1e6 * least_s(lambda: list(loader), 2048):.0f} us")
files = [torchvision.io.encode_jpeg(photograph(), quality=88) for _ in range(16)]
crop = torchvision.transforms.Compose([torchvision.transforms.RandomResizedCrop(224), torchvision.transforms.RandomHorizontalFlip()])
print(f"JPEG of {sum(map(len, files)) / 16e3:.0f} kB, decoded, cropped and resized: "
      f"{1e3 * least_s(lambda: [crop(torchvision.io.decode_jpeg(f)) for f in files], 16):.2f} ms")
