# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: A small GAN; the two losses swing against each other as they must, nothing is slow.
import time

import torch
from torch import nn

Z = 64


def shapes(n, g):
    """32x32 sketches: rings and bars at random places."""
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 32), torch.linspace(-1, 1, 32), indexing="ij")
    cx, cy = torch.rand(2, n, 1, 1, generator=g) - 0.5
    r = 0.2 + 0.3 * torch.rand(n, 1, 1, generator=g)
    ring = torch.exp(-80 * (((xx - cx) ** 2 + (yy - cy) ** 2).sqrt() - r) ** 2)
    bar = torch.exp(-60 * (xx - cx + (yy - cy) * 0.5) ** 2)
    kind = (torch.rand(n, 1, 1, generator=g) < 0.5).float()
    return (kind * ring + (1 - kind) * bar).unsqueeze(1) * 2 - 1


class Generator(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.ConvTranspose2d(Z, 4 * ch, 4), nn.BatchNorm2d(4 * ch), nn.ReLU(),
            nn.ConvTranspose2d(4 * ch, 2 * ch, 4, 2, 1), nn.BatchNorm2d(2 * ch), nn.ReLU(),
            nn.ConvTranspose2d(2 * ch, ch, 4, 2, 1), nn.BatchNorm2d(ch), nn.ReLU(),
            nn.ConvTranspose2d(ch, 1, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.net(z.view(-1, Z, 1, 1))


class Critic(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, ch, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, 2 * ch, 4, 2, 1), nn.BatchNorm2d(2 * ch), nn.LeakyReLU(0.2),
            nn.Conv2d(2 * ch, 4 * ch, 4, 2, 1), nn.BatchNorm2d(4 * ch), nn.LeakyReLU(0.2),
            nn.Conv2d(4 * ch, 1, 4), nn.Flatten())

    def forward(self, x):
        return self.net(x).squeeze(1)


def main(batch=64):
    g = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    images = torch.cat([shapes(1000, g) for _ in range(6)])
    gen, critic = Generator(), Critic()
    opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(batch), torch.zeros(batch)
    t0 = time.time()
    for it in range(1, 1_000_000):
        real = images[torch.randint(0, len(images), (batch,))]
        fake = gen(torch.randn(batch, Z))

        loss_d = bce(critic(real), 0.9 * ones) + bce(critic(fake.detach()), zeros)
        opt_d.zero_grad(set_to_none=True)
        loss_d.backward()
        opt_d.step()

        loss_g = bce(critic(fake), ones)
        opt_g.zero_grad(set_to_none=True)
        loss_g.backward()
        opt_g.step()

        if it % 10 == 0:
            print(f"[{it}] Loss_D: {loss_d.item():.4f} Loss_G: {loss_g.item():.4f} ({it / (time.time() - t0):.2f} it/s)",
                  flush=True)


if __name__ == "__main__":
    main()
