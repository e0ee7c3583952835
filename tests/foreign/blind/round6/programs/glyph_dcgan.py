# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# how: attach
# Why: a GAN: both losses swing and never settle, as they should; the data lie in memory and the step is all convolution.
"""DCGAN on synthetic rune glyphs, 32x32."""
import numpy as np
import torch
from torch import nn

Z = 64


def glyphs(n, rng):
    """Strokes between random points on a 4x4 lattice, blurred once."""
    out = np.full((n, 1, 32, 32), -1.0, np.float32)
    t = np.linspace(0, 1, 40)
    for k in range(n):
        points = rng.integers(0, 4, (rng.integers(3, 6), 2)) * 8 + 3
        for a, b in zip(points, points[1:]):
            line = np.rint(a + (b - a) * t[:, None]).astype(int)
            out[k, 0, line[:, 0], line[:, 1]] = 1.0
    near = (out + np.roll(out, 1, 2) + np.roll(out, 1, 3) + np.roll(out, -1, 2)) / 4
    return torch.from_numpy(near.astype(np.float32))


def init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


generator = nn.Sequential(
    nn.ConvTranspose2d(Z, 96, 4, 1, 0, bias=False), nn.BatchNorm2d(96), nn.ReLU(True),
    nn.ConvTranspose2d(96, 48, 4, 2, 1, bias=False), nn.BatchNorm2d(48), nn.ReLU(True),
    nn.ConvTranspose2d(48, 24, 4, 2, 1, bias=False), nn.BatchNorm2d(24), nn.ReLU(True),
    nn.ConvTranspose2d(24, 1, 4, 2, 1), nn.Tanh()).apply(init)
critic = nn.Sequential(
    nn.Conv2d(1, 24, 4, 2, 1), nn.LeakyReLU(0.2, True),
    nn.Conv2d(24, 48, 4, 2, 1, bias=False), nn.BatchNorm2d(48), nn.LeakyReLU(0.2, True),
    nn.Conv2d(48, 96, 4, 2, 1, bias=False), nn.BatchNorm2d(96), nn.LeakyReLU(0.2, True),
    nn.Conv2d(96, 1, 4, 1, 0), nn.Flatten()).apply(init)


def main(batch=64):
    torch.manual_seed(21)
    real = glyphs(3000, np.random.default_rng(21))
    bce = nn.BCEWithLogitsLoss()
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_c = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    ones, zeros = torch.ones(batch, 1), torch.zeros(batch, 1)
    it = 0
    for epoch in range(100000):
        order = torch.randperm(len(real))
        for at in range(0, len(real) - batch + 1, batch):
            x = real[order[at:at + batch]]
            fake = generator(torch.randn(batch, Z, 1, 1))

            opt_c.zero_grad()
            loss_c = bce(critic(x), ones * 0.9) + bce(critic(fake.detach()), zeros)
            loss_c.backward()
            opt_c.step()

            opt_g.zero_grad()
            loss_g = bce(critic(fake), ones)
            loss_g.backward()
            opt_g.step()

            it += 1
            if it % 10 == 0:
                print(f"[{epoch}/{it}] Loss_D: {loss_c.item():.4f} Loss_G: {loss_g.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
