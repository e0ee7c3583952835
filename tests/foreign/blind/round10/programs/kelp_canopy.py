# python: torch
# expected: worker-deadlock
# verdict: stuck
# seconds: 30
# Why: the evaluation takes the archive's guard before its loader forks its workers; the copies of the guard inside them are closed for
# ever, so every worker stops at its first tile and the main process waits for a batch that never comes. The first epoch runs well.
"""Segment kelp canopy in small multispectral tiles."""
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

BANDS, SIDE = 4, 48


class TileArchive:
    """Scenes cut into tiles. Band statistics follow the tiles that have been read."""

    def __init__(self, scenes, seed):
        g = torch.Generator().manual_seed(seed)
        self.scenes = torch.randn(scenes, BANDS, 96, 96, generator=g)
        blobs = F.avg_pool2d(torch.randn(scenes, 1, 96, 96, generator=g), 13, 1, 6)
        self.canopy = (blobs > 0.03).float()
        self.scenes += self.canopy * torch.tensor([0.2, -0.6, 0.1, 1.1]).view(1, 4, 1, 1)
        self.guard = threading.Lock()
        self.mean = torch.zeros(BANDS)
        self.std = torch.ones(BANDS)

    def tile(self, scene, row, col):
        x = self.scenes[scene, :, row:row + SIDE, col:col + SIDE]
        y = self.canopy[scene, :, row:row + SIDE, col:col + SIDE]
        with self.guard:
            self.mean = 0.999 * self.mean + 0.001 * x.mean((1, 2))
            self.std = 0.999 * self.std + 0.001 * x.std((1, 2))
            x = (x - self.mean.view(-1, 1, 1)) / self.std.view(-1, 1, 1)
        return x, y


class Tiles(Dataset):
    def __init__(self, archive, scenes, per_scene):
        self.archive, self.scenes, self.per_scene = archive, list(scenes), per_scene

    def __len__(self):
        return len(self.scenes) * self.per_scene

    def __getitem__(self, i):
        scene = self.scenes[i // self.per_scene]
        row, col = torch.randint(0, 96 - SIDE, (2,)).tolist()
        x, y = self.archive.tile(scene, row, col)
        if torch.rand(()) < 0.5:
            x, y = x.flip(-1), y.flip(-1)
        return x, y


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class CanopyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = block(BANDS, 16), block(16, 32), block(48, 16)
        self.head = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = F.interpolate(self.b(F.max_pool2d(a, 2)), scale_factor=2)
        return self.head(self.c(torch.cat([a, b], 1)))


def evaluate(model, archive, loader):
    model.eval()
    hit = union = 0.0
    with torch.no_grad(), archive.guard:      # one set of band statistics for the whole pass
        for x, y in loader:
            p = model(x) > 0
            hit += (p & (y > 0)).sum().item()
            union += (p | (y > 0)).sum().item()
    model.train()
    return hit / max(union, 1)


def main():
    torch.manual_seed(4)
    archive = TileArchive(60, seed=11)
    train = DataLoader(Tiles(archive, range(50), 16), batch_size=16, shuffle=True, num_workers=2)
    held_out = DataLoader(Tiles(archive, range(50, 60), 8), batch_size=16, num_workers=2)
    model = CanopyNet()
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    step, start = 0, time.time()
    for epoch in range(200):
        for x, y in train:
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} {step / (time.time() - start):.1f}/s", flush=True)
        print(f"epoch {epoch} IoU {evaluate(model, archive, held_out):.3f}", flush=True)


if __name__ == "__main__":
    main()
