# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: looks suspicious because neither loss goes down, both wander about a level; that is how two networks in balance against each other look.
import numpy as np
import torch
from torch import nn

SIDE, LATENT, BATCH = 16, 24, 64
torch.manual_seed(33)
rng = np.random.default_rng(33)


def make_glyphs(n=8000):
    x = np.zeros((n, SIDE, SIDE), np.float32)
    kind = rng.integers(0, 3, n)
    at = rng.integers(3, SIDE - 3, (n, 2))
    for i in range(n):
        r, c = at[i]
        if kind[i] != 1:
            x[i, r - 1:r + 1, 2:-2] = 1
        if kind[i] != 0:
            x[i, 2:-2, c - 1:c + 1] = 1
    x += 0.05 * rng.normal(size=x.shape)
    return torch.from_numpy(x * 2 - 1).float()[:, None]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(LATENT, 64 * 16), nn.Unflatten(1, (64, 4, 4)), nn.BatchNorm2d(64), nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout2d(0.25),
            nn.Conv2d(24, 48, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout2d(0.25),
            nn.Flatten(), nn.Linear(48 * 16, 1))

    def forward(self, x):
        return self.net(x)[:, 0]


def main():
    glyphs = make_glyphs()
    gen, critic = Generator(), Critic()
    opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.5, 0.999))
    bce = nn.functional.binary_cross_entropy_with_logits
    ones, zeros = torch.ones(BATCH), torch.zeros(BATCH)
    sum_d = sum_g = 0.0
    for step in range(1, 20001):
        real = glyphs[torch.randint(0, len(glyphs), (BATCH,))]
        fake = gen(torch.randn(BATCH, LATENT))
        loss_d = bce(critic(real), ones * 0.9) + bce(critic(fake.detach()), zeros)
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
        loss_g = bce(critic(fake), ones)
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        sum_d += loss_d.item()
        sum_g += loss_g.item()
        if step % 20 == 0:
            print(f"step {step} d {sum_d / 20:.3f} g {sum_g / 20:.3f}", flush=True)
            sum_d = sum_g = 0.0


if __name__ == "__main__":
    main()
