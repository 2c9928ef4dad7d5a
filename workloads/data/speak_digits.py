#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""speak_digits.py FOLDER [TRAIN EVAL] - utterances of three digits, spoken by espeak-ng in several voices, as log-mel features and labels.

An utterance joins three digits of one voice, pitch and speed, with pauses of random length, in noise 30 dB below. Features are those of the MLPerf
RNN-T reference, of 40 filters instead of 80: windows of 20 ms every 10 ms, log-mel filters from 0 Hz to half the rate, normalised over the
utterance, three windows stacked every 30 ms. Voices for evaluation are none of those for training.
"""
import os, subprocess, sys, tempfile, wave
import numpy as np

FRAMES, FILTERS, STACK, DIGITS, RATE = 80, 40, 3, 3, 22050      # frames of 30 ms
VOICES = {"train": ["en", "en-us", "en-gb-x-rp", "en+f2", "en-us+m3", "en+m5", "en-us+f4", "en-gb-scotland+m1"], "eval": ["en+f5", "en-us+m7"]}
WORDS = "zero one two three four five six seven eight nine".split()


def speak(word, voice, pitch, speed, folder):
    path = os.path.join(folder, "x.wav")
    subprocess.run(["espeak-ng", "-v", voice, "-p", str(pitch), "-s", str(speed), "-w", path, word], check=True)
    with wave.open(path) as w:
        assert w.getframerate() == RATE and w.getsampwidth() == 2
        x = np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float64) / 32768
    loud = np.nonzero(np.abs(x) > 0.01)[0]
    return x[loud[0]:loud[-1] + 1]


def filters(n_bins):
    mel = lambda f: 2595 * np.log10(1 + f / 700)
    edges = 700 * (10 ** (np.linspace(0, mel(RATE / 2), FILTERS + 2) / 2595) - 1)
    f = np.linspace(0, RATE / 2, n_bins)
    rise = (f - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - f) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(rise, fall))


def features(x):
    step, width, n = RATE // 100, RATE // 50, FRAMES * STACK
    x = np.pad(x, (0, max(0, n * step + width - len(x))))
    windows = np.stack([x[i * step:i * step + width] for i in range(n)]) * np.hanning(width)
    power = np.abs(np.fft.rfft(windows, 512)) ** 2
    mels = np.log(power @ filters(power.shape[1]).T + 1e-6)
    return ((mels - mels.mean(0)) / (mels.std(0) + 1e-5)).reshape(FRAMES, STACK * FILTERS)


def main(folder, n_train=4000, n_eval=400):
    os.makedirs(folder, exist_ok=True)
    draw = np.random.RandomState(1)
    with tempfile.TemporaryDirectory() as scratch:
        for part, n in (("train", n_train), ("eval", n_eval)):
            spoken = [[speak(w, v, p, s, scratch) for w in WORDS] for v in VOICES[part] for p, s in ((35, 150), (50, 175), (65, 200))]
            labels = draw.randint(0, 10, (n, DIGITS)).astype("<i4")
            x = np.empty((n, FRAMES, STACK * FILTERS), "<f4")
            for i in range(n):
                who = spoken[draw.randint(len(spoken))]
                pause = lambda: np.zeros(draw.randint(RATE // 50, RATE // 8))
                sound = np.concatenate([y for d in labels[i] for y in (pause(), who[d])])[:FRAMES * STACK * RATE // 100]
                sound = np.pad(sound, (0, FRAMES * STACK * RATE // 100 - len(sound)))
                x[i] = features(sound + draw.normal(0, 0.003, len(sound)))
            np.save(os.path.join(folder, part + "-features.npy"), x)
            np.save(os.path.join(folder, part + "-labels.npy"), labels)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
