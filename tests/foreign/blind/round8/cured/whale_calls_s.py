# python: torch
# expected: shuffle-fill [also accepted: input-bound]
# verdict: not-started|slow
# seconds: 30
# where: .shuffle(buffer_size / call_spectrogram / np.fft.rfft
# Why: The shuffle buffer stands behind the spectrogram map, so 40000 spectrograms are made one after another before the first batch
#   comes out. Shuffling the clip positions first starts training at once.
import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.utils.data.datapipes.iter import IterableWrapper

RATE = 8000
CLIP = 8192


def hydrophone(minutes, seed=3):
    """A long recording with up and down sweeps in it."""
    rng = np.random.default_rng(seed)
    audio = rng.normal(0, 0.3, minutes * 60 * RATE).astype(np.float32)
    t = np.arange(CLIP) / RATE
    labels = rng.integers(0, 3, len(audio) // CLIP)
    for i, kind in enumerate(labels):
        if kind == 0:
            continue
        slope = 900.0 if kind == 1 else -900.0
        f0 = 800.0 if kind == 1 else 1700.0
        call = np.sin(2 * np.pi * (f0 * t + 0.5 * slope * t * t))
        audio[i * CLIP:(i + 1) * CLIP] += call.astype(np.float32) * rng.uniform(0.2, 0.8)
    return audio, labels


class CallPipeline:
    def __init__(self, audio, labels):
        self.audio, self.labels = audio, labels
        self.window = np.hanning(256).astype(np.float32)

    def call_spectrogram(self, position):
        clip, offset = divmod(position, 64)
        start = max(0, clip * CLIP + (offset - 32) * 8)
        wave = self.audio[start:start + CLIP]
        if len(wave) < CLIP:
            wave = np.pad(wave, (0, CLIP - len(wave)))
        frames = np.lib.stride_tricks.sliding_window_view(wave, 256)[::64] * self.window
        power = np.abs(np.fft.rfft(frames, axis=1))[:, :64] ** 2
        spec = np.log1p(power[:120]).astype(np.float32).T
        # per-band median removes the ship noise
        spec -= np.median(spec, axis=1, keepdims=True)
        return spec.astype(np.float16), int(self.labels[clip])

    @staticmethod
    def stack(rows):
        x = torch.from_numpy(np.stack([r[0] for r in rows]).astype(np.float32))
        return x.unsqueeze(1), torch.tensor([r[1] for r in rows])

    def build(self, batch):
        positions = range(len(self.labels) * 64)
        pipe = IterableWrapper(positions, deepcopy=False)
        pipe = pipe.shuffle(buffer_size=40000).map(self.call_spectrogram)
        return pipe.batch(batch).map(self.stack)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=50)
    args = parser.parse_args()
    torch.manual_seed(0)
    audio, labels = hydrophone(minutes=16)
    print(f"{len(labels)} clips, {len(labels) * 64} positions", flush=True)
    loader = DataLoader(CallPipeline(audio, labels).build(args.batch), batch_size=None)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
        nn.Flatten(), nn.Linear(48 * 16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step, since = 0, time.time()
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step == 1 or step % 20 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} "
                      f"[{time.time() - since:.1f}s]", flush=True)


if __name__ == "__main__":
    main()
