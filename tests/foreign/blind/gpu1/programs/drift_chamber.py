# python: gpu
# expected: waits-for-pipe
# verdict: stuck
# seconds: 30
# where: simulator.stdout.read
# Why: the simulator's stderr goes to a pipe that nobody reads; after 64 KiB of its log the simulator blocks, and the training
# waits for its next events for ever.
"""Tell one track from two in the pictures of a drift chamber; an external simulator delivers the events."""
import subprocess
import sys
import time

import numpy as np
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
SIDE, BATCH, WIDTH = 64, 128, 256

SIMULATOR = """
import sys
import numpy as np
rng = np.random.default_rng(23)
yy, xx = np.mgrid[:64, :64].astype(np.float32)
event = 0
while True:
    tracks = int(rng.integers(1, 3))
    picture = rng.random((64, 64), dtype=np.float32) * 0.5
    for _ in range(tracks):
        angle, offset = rng.uniform(0, np.pi), rng.uniform(-16, 16)
        distance = (xx - 32) * np.sin(angle) - (yy - 32) * np.cos(angle) - offset
        picture += (np.abs(distance) < 1.2)
    sys.stdout.buffer.write(np.float32([tracks - 1]).tobytes() + picture.astype(np.float32).tobytes())
    if event % 8 == 0:
        print(f"[sim] event {event:8d}  tracks {tracks}  charge {picture.sum():9.2f} fC  gas Ar/CO2 ok", file=sys.stderr)
    event += 1
"""


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, WIDTH, 5, stride=2, padding=2)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(WIDTH), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 3, padding=1)) for _ in range(8))
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x.mean(dim=(2, 3)))


def next_events(simulator):
    size = (1 + SIDE * SIDE) * 4
    data = simulator.stdout.read(BATCH * size)
    events = np.frombuffer(data, dtype=np.float32).reshape(BATCH, -1).copy()
    labels = torch.from_numpy(events[:, 0]).long()
    pictures = torch.from_numpy(events[:, 1:]).view(BATCH, 1, SIDE, SIDE)
    return pictures.to(device), labels.to(device)


def main():
    torch.manual_seed(1)
    simulator = subprocess.Popen([sys.executable, "-c", SIMULATOR], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    model = Classifier().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    began = time.time()
    for step in range(1, 1_000_001):
        pictures, labels = next_events(simulator)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f} events {step * BATCH} t {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
