"""A small DCGAN that paints ceramic glazes (32 x 32 pixels)."""
import os
import tempfile
import time

import numpy as np
import torch
from PIL import Image
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
NOISE = 48
folder = tempfile.mkdtemp(prefix="glazes_")


def glaze(n):
    yy, xx = np.mgrid[0:32, 0:32] / 32
    out = np.empty((n, 3, 32, 32), np.float32)
    for i in range(n):
        a, b, c = rng.uniform(1, 5, 3)
        flow = np.sin(a * xx * 3 + b * np.sin(c * yy * 2)) * 0.5
        tint = rng.uniform(-0.4, 0.4, 3)
        out[i] = flow * rng.uniform(0.4, 1, (3, 1, 1)) + tint[:, None, None]
    return torch.from_numpy(np.clip(out, -1, 1))


class Painter(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.start = nn.Linear(NOISE, width * 4 * 16)
        self.body = nn.Sequential(
            nn.BatchNorm2d(width * 4), nn.ReLU(),
            nn.ConvTranspose2d(width * 4, width * 2, 4, 2, 1), nn.BatchNorm2d(width * 2), nn.ReLU(),
            nn.ConvTranspose2d(width * 2, width, 4, 2, 1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())
        self.width = width

    def forward(self, z):
        return self.body(self.start(z).view(-1, self.width * 4, 4, 4))


class Critic(nn.Sequential):
    def __init__(self, width=32):
        super().__init__(
            nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(width, width * 2, 4, 2, 1), nn.BatchNorm2d(width * 2), nn.LeakyReLU(0.2),
            nn.Conv2d(width * 2, width * 4, 4, 2, 1), nn.BatchNorm2d(width * 4), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(width * 4 * 16, 1))


def write_sheet(painter, z, step):
    painter.eval()
    with torch.no_grad():
        tiles = painter(z)
    painter.train()
    rows = tiles.view(8, 8, 3, 32, 32).permute(0, 3, 1, 4, 2).reshape(256, 256, 3)
    pixels = ((rows.numpy() + 1) * 127.5).astype(np.uint8)
    sheet = Image.fromarray(pixels).resize((512, 512), Image.BICUBIC)
    sheet.save(os.path.join(folder, "sheet_%03d.png" % (step % 200)), optimize=True)


def main():
    real = glaze(3000)
    painter, critic = Painter(), Critic()
    opt_p = torch.optim.Adam(painter.parameters(), 2e-4, betas=(0.5, 0.999))
    opt_c = torch.optim.Adam(critic.parameters(), 2e-4, betas=(0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()
    shown = torch.randn(64, NOISE)
    ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
    start, step = time.time(), 0
    for epoch in range(1, 201):
        for batch in torch.randperm(len(real)).split(32):
            if len(batch) < 32:
                continue
            painted = painter(torch.randn(32, NOISE))
            loss_c = bce(critic(real[batch]), ones * 0.9) + bce(critic(painted.detach()), zeros)
            opt_c.zero_grad()
            loss_c.backward()
            opt_c.step()
            loss_p = bce(critic(painted), ones)
            opt_p.zero_grad()
            loss_p.backward()
            opt_p.step()
            step += 1
            if step % 100 == 0:
                write_sheet(painter, shown, step)
            if step % 5 == 0:
                print(f"epoch {epoch} step {step:5d}  loss critic {loss_c.item():.3f} painter {loss_p.item():.3f}  "
                      f"{step / (time.time() - start):.2f} it/s", flush=True)


if __name__ == "__main__":
    main()
