# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 25
"""Find bright nodules in CT volumes with a small patch mixer."""
import time

import numpy as np
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
SIDE, PATCH, WIDTH = 128, 8, 256
VOLUMES, BATCH = 256, 64


def draw_volumes():
    rng = np.random.default_rng(11)
    volumes = rng.random((VOLUMES, SIDE, SIDE, SIDE), dtype=np.float32)
    labels = rng.integers(0, 2, VOLUMES)
    for index in np.flatnonzero(labels):
        z, y, x = rng.integers(8, SIDE - 24, 3)
        volumes[index, z:z + 16, y:y + 16, x:x + 16] += 0.8
    return volumes, labels


class Mixer(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.embed = nn.Linear(PATCH ** 3, WIDTH)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))
            for _ in range(depth))
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, volumes):
        n, cells = len(volumes), SIDE // PATCH
        x = volumes.view(n, cells, PATCH, cells, PATCH, cells, PATCH).permute(0, 1, 3, 5, 2, 4, 6)
        x = self.embed(x.reshape(n, cells ** 3, PATCH ** 3))
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x.amax(dim=1))


def main():
    torch.manual_seed(0)
    print("drawing volumes ...", flush=True)
    volumes, labels = draw_volumes()
    volumes = torch.from_numpy(volumes).half().pin_memory()
    labels = torch.from_numpy(labels).to(device)
    model = Mixer().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01)
    criterion = nn.CrossEntropyLoss()
    began = time.time()
    step = 0
    for epoch in range(100_000):
        for start in range(0, VOLUMES, BATCH):
            x = volumes[start:start + BATCH].to(device, non_blocking=True)
            y = labels[start:start + BATCH]
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = criterion(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 4 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} {step / (time.time() - began):.1f} it/s", flush=True)


if __name__ == "__main__":
    main()
