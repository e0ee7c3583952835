# python: torch
# truth: fetch=waits for data, step=computes, save=checkpoints, check=validates
# Why: one DataLoader worker unpacks radar frames more slowly than the model takes them; the run is saved often.
import os
import tempfile
import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import part, started

SIDE = 64


class RadarFrames(Dataset):
    def __init__(self, folder, count):
        self.paths = [os.path.join(folder, f"{i}.z") for i in range(count)]

    def __len__(self):
        return 40_000

    def __getitem__(self, i):
        with open(self.paths[i % len(self.paths)], "rb") as file:
            frame = np.frombuffer(zlib.decompress(file.read()), np.uint8).reshape(3 * SIDE, 3 * SIDE)
        frame = np.rot90(frame, i % 4).astype(np.float32)
        spread = np.fft.fft2(frame)
        spread[40:-40] *= 0.5
        clean = np.fft.ifft2(spread).real
        small = clean.reshape(SIDE, 3, SIDE, 3).mean(axis=(1, 3))
        return torch.from_numpy(small[None].astype(np.float32) / 255), i % 5


def record(folder, count):
    rng = np.random.default_rng(17)
    for i in range(count):
        frame = (np.cumsum(rng.integers(0, 3, (3 * SIDE, 3 * SIDE)), axis=1) % 250).astype(np.uint8)
        with open(os.path.join(folder, f"{i}.z"), "wb") as file:
            file.write(zlib.compress(frame.tobytes(), 6))


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.Conv2d(8, 32, 3, stride=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 14 * 14, 384), nn.ReLU(), nn.Linear(384, 5))


def held_out_error(model, frames, kinds):
    model.eval()
    wrong = 0
    with torch.no_grad():
        for x, y in zip(frames.split(64), kinds.split(64)):
            wrong += (model(x).argmax(1) != y).sum().item()
    model.train()
    return wrong / len(kinds)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    folder = tempfile.mkdtemp()
    record(folder, 100)
    frames = RadarFrames(folder, 100)
    pairs = [frames[i] for i in range(64)]
    held_x = torch.stack([x for x, _ in pairs]).repeat(6, 1, 1, 1)
    held_y = torch.tensor([y for _, y in pairs]).repeat(6)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    loss_of, step = nn.CrossEntropyLoss(), 0
    started()
    for epoch in range(100):
        turns = iter(DataLoader(frames, batch_size=32, shuffle=True, num_workers=1, drop_last=True))
        while True:
            with part("fetch"):
                pair = next(turns, None)
            if pair is None:
                break
            with part("step"):
                optimizer.zero_grad()
                loss = loss_of(model(pair[0]), pair[1])
                loss.backward()
                optimizer.step()
                value = loss.item()
            step += 1
            if step % 6 == 0:
                with part("save"):
                    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step},
                               os.path.join(folder, "harbour.pt"))
            if step % 15 == 0:
                with part("check"):
                    error = held_out_error(model, held_x, held_y)
                print(f"epoch {epoch} step {step} loss {value:.4f} error {error:.3f}", flush=True)


if __name__ == "__main__":
    main()
