# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 35
# where: set_num_threads
# Why: the script was written for a 16-core node and keeps its thread number on a two-core one; the threads get in each other's way at every small kernel.
import argparse
import time

import numpy as np
import torch
from torch import nn


def parse():
    p = argparse.ArgumentParser(description="Phase picker for three-component seismograms")
    p.add_argument("--threads", type=int, default=torch.get_num_threads())
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--steps", type=int, default=20000)
    return p.parse_args()


class Picker(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.down1 = nn.Conv1d(3, width, 7, stride=2, padding=3)
        self.down2 = nn.Conv1d(width, width, 7, stride=2, padding=3)
        self.mid = nn.Conv1d(width, width, 5, padding=2)
        self.up = nn.ConvTranspose1d(width, width, 4, stride=4)
        self.head = nn.Conv1d(width, 1, 1)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(3))

    def forward(self, x):
        x = torch.relu(self.norms[0](self.down1(x)))
        x = torch.relu(self.norms[1](self.down2(x)))
        x = torch.relu(self.norms[2](self.mid(x)))
        return self.head(torch.relu(self.up(x)))[:, 0]


def make_records(n, length=1024):
    rng = np.random.default_rng(1)
    traces = rng.normal(0, 0.3, (n, 3, length)).astype("float32")
    target = np.zeros((n, length), dtype="float32")
    t = np.arange(length)
    for i in range(n):
        onset = rng.integers(100, 800)
        after = np.clip(t - onset, 0, None)
        traces[i] += (np.sin(after / 4.0) * np.exp(-after / 120.0))[None]
        target[i] = np.exp(-0.5 * ((t - onset) / 8.0) ** 2)
    return torch.from_numpy(traces), torch.from_numpy(target)


def main():
    args = parse()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    traces, target = make_records(1000)
    model = Picker()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    lossfn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(20.0))
    started = time.time()
    for step in range(1, args.steps + 1):
        pick = torch.randint(0, len(traces), (args.batch,))
        loss = lossfn(model(traces[pick]), target[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}  loss {loss.item():.4f}  {step / (time.time() - started):.2f} it/s", flush=True)


if __name__ == "__main__":
    main()
