#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what one core needs to prepare a sample (hosts.sample_s): rows of text that become tensors, and JPEG files of ImageNet's size.
Needs python3-torch and python3-torchvision. Noise whose amplitude falls as 1/f stands for a photograph; 110 kB is the mean file of ImageNet."""
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


class Rows(torch.utils.data.Dataset):
    def __init__(self, tokens, n=2048, columns=3):
        self.rows = [[list(range(tokens)) for _ in range(columns)] for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {k: torch.tensor(column) for k, column in enumerate(self.rows[i])}


def photograph(height=375, width=500):
    f = (torch.fft.fftfreq(height)[:, None] ** 2 + torch.fft.fftfreq(width)[None] ** 2).sqrt()
    f[0, 0] = 1
    grey, *colours = (torch.fft.ifft2(torch.fft.fft2(torch.randn(height, width)) / f).real for _ in range(4))
    x = torch.stack([grey + 0.3 * c for c in colours])
    return ((x - x.mean()) / x.std() * 55 + 120).clamp(0, 255).to(torch.uint8)


torch.set_num_threads(1)
torch.manual_seed(1)
for tokens in 384, 512:
    loader = torch.utils.data.DataLoader(Rows(tokens), batch_size=256, shuffle=True)
    print(f"row of {tokens} tokens, 3 columns: {1e6 * least_s(lambda: list(loader), 2048):.0f} us")
files = [torchvision.io.encode_jpeg(photograph(), quality=88) for _ in range(16)]
crop = torchvision.transforms.Compose([torchvision.transforms.RandomResizedCrop(224), torchvision.transforms.RandomHorizontalFlip()])
print(f"JPEG of {sum(map(len, files)) / 16e3:.0f} kB, decoded, cropped and resized: "
      f"{1e3 * least_s(lambda: [crop(torchvision.io.decode_jpeg(f)) for f in files], 16):.2f} ms")
