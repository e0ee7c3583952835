# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 28
# Why: some seconds of preparation, a loop in Python over the forecast hours, validation and a checkpoint every hundred steps, a
# worker that is idle most of the time and a noisy loss: all as it should be, the recurrent network is the work.
"""Forecasts the strain of a bridge: forty gauges, 96 samples back, 24 ahead."""
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

GAUGES, BACK, AHEAD = 40, 96, 24
folder = tempfile.mkdtemp(prefix="bridge-")


def measure(hours=300_000):
    """Traffic and weather through the modes of the deck, sample by sample."""
    rng = np.random.default_rng(12)
    modes = rng.normal(size=(8, GAUGES)) / 3
    period = rng.uniform(8, 60, 8)
    turn = 0.995 * np.exp(2j * np.pi / period)
    state = np.zeros(8, complex)
    push = rng.normal(size=(hours, 8)) * (1 + (rng.random((hours, 1)) < 0.02) * 4)
    states = np.empty((hours, 8))
    for hour in range(hours):
        state = turn * state + push[hour] * 0.1
        states[hour] = state.real
    strain = states @ modes + rng.normal(0, 0.15, (hours, GAUGES))
    return (strain / strain.std(0)).astype(np.float32)


class Windows(Dataset):
    def __init__(self, path, first, last, jitter):
        self.path, self.first, self.count, self.jitter = path, first, last - first - BACK - AHEAD, jitter
        self.strain = None

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        if self.strain is None:
            self.strain = np.load(self.path, mmap_mode="r")
        at = self.first + number
        window = np.array(self.strain[at:at + BACK + AHEAD])
        if self.jitter:
            window *= np.float32(np.random.uniform(0.9, 1.1))
        return window[:BACK], window[BACK:]


class Forecast(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.read = nn.GRU(GAUGES, width, batch_first=True)
        self.cell = nn.GRUCell(GAUGES, width)
        self.head = nn.Linear(width, GAUGES)

    def forward(self, past):
        _, state = self.read(past)
        state, now, out = state[0], past[:, -1], []
        for _ in range(AHEAD):
            state = self.cell(now, state)
            now = now + self.head(state)
            out.append(now)
        return torch.stack(out, 1)


def validate(model, loader):
    model.eval()
    with torch.no_grad():
        losses = [nn.functional.mse_loss(model(past), ahead).item() for past, ahead in loader]
    model.train()
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(4)
    began = time.time()
    path = os.path.join(folder, "strain.npy")
    np.save(path, measure())
    print(f"measurements ready after {time.time() - began:.1f} s", flush=True)
    train = DataLoader(Windows(path, 0, 270_000, True), batch_size=64, shuffle=True, num_workers=1, drop_last=True)
    valid = DataLoader(torch.utils.data.Subset(Windows(path, 270_000, 300_000, False), range(0, 29_200, 200)), batch_size=73)
    model = Forecast()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step, best = 0, float("inf")
    for epoch in range(1, 11):
        for past, ahead in train:
            loss = nn.functional.mse_loss(model(past), ahead)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
            if step % 100 == 0:
                error = validate(model, valid)
                print(f"validation {error:.4f}", flush=True)
                if error < best:
                    best = error
                    torch.save({"model": model.state_dict(), "step": step}, os.path.join(folder, "best.pt"))


if __name__ == "__main__":
    main()
