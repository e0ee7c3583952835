# python: torch
# expected: shuffle-fill
# verdict: not-started
# seconds: 25
# where: shuffle(buffer_size=60_000)
# Why: the pipe shuffles finished spectrograms, so 60 000 of them are computed and put into the buffer before the first batch
# (a minute or more). Shuffling the records before the map begins at once.
"""Which of twelve frogs is calling? Windows of night recordings, a small convolutional network."""
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.datapipes.iter import IterableWrapper

RATE, WINDOW, SPECIES = 8000, 16384, 12
FRAME, HOP, BANDS = 1024, 64, 32
HANN = np.hanning(FRAME).astype(np.float32)
folder = tempfile.mkdtemp(prefix="frogs-")
NIGHTS = []


def record_night(number, segments=110):
    rng = np.random.default_rng(number)
    t = np.arange(WINDOW) / RATE
    species = rng.integers(0, SPECIES, segments)
    parts = []
    for s in species:
        pitch = 350 + 240 * s * rng.normal(1, 0.02)
        pulses = 0.5 + 0.5 * np.sin(2 * np.pi * (3 + 1.5 * (s % 5)) * t + rng.uniform(0, 6))
        parts.append(0.2 * pulses * np.sin(2 * np.pi * pitch * t) + rng.normal(0, 0.12, WINDOW))
    wave = np.clip(np.concatenate(parts), -1, 1)
    path = os.path.join(folder, f"night{number}.npy")
    np.save(path, (wave * 32767).astype(np.int16))
    NIGHTS.append(np.load(path, mmap_mode="r"))
    return species


def band_filters():
    edges = np.geomspace(120, RATE / 2, BANDS + 2)
    freqs = np.fft.rfftfreq(FRAME, 1 / RATE)
    up = (freqs[:, None] - edges[None, :-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[None, 2:] - freqs[:, None]) / (edges[2:] - edges[1:-1])
    return np.clip(np.minimum(up, down), 0, 1)


FILTERS = band_filters()


def spectrogram(record):
    night, start, species = record
    wave = NIGHTS[night][start:start + WINDOW].astype(np.float32) / 32768
    wave[1:] -= 0.95 * wave[:-1]
    frames = np.lib.stride_tricks.sliding_window_view(wave, FRAME)[::HOP] * HANN
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    bands = np.log(power @ FILTERS + 1e-6)
    bands = (bands - bands.mean()) / (bands.std() + 1e-6)
    return bands[:240].reshape(30, 8, BANDS).mean(1, dtype=np.float32)[None], int(species)


def build():
    def block(a, b):
        return [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*block(1, 64), *block(64, 128), *block(128, 192), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(192, SPECIES))


def main():
    torch.manual_seed(1)
    records = []
    for night in range(8):
        for segment, species in enumerate(record_night(night)):
            at = segment * WINDOW
            last = len(NIGHTS[night]) - WINDOW
            records += [(night, min(max(at + off, 0), last), species) for off in range(-4096, 4096, 64)]
    print(f"{len(records)} windows of 8 nights in {folder}", flush=True)

    pipe = IterableWrapper(records, deepcopy=False).shuffle(buffer_size=60_000).map(spectrogram)
    loader = DataLoader(pipe, batch_size=32, drop_last=True)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    step, began = 0, time.time()
    for epoch in range(20):
        for x, y in loader:
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step <= 3 or step % 5 == 0:
                right = (out.argmax(1) == y).float().mean().item()
                print(f"epoch {epoch + 1} step {step} loss {loss.item():.4f} right {right:.2f} {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
