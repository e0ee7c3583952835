# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: A GAN: the two losses swing against one another and do not fall. Convolutions take all the time, the data lie in memory.
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
LATENT, BATCH = 48, 32


def weave(n, size=32):
    """Checks and stripes in two colours."""
    phase = torch.rand(n, 2, 1, 1) * 6.28
    freq = torch.randint(2, 6, (n, 2, 1, 1)).float()
    grid = torch.linspace(0, 6.28, size)
    warp = torch.sin(freq[:, :1] * grid.view(1, 1, 1, -1) + phase[:, :1])
    weft = torch.sin(freq[:, 1:] * grid.view(1, 1, -1, 1) + phase[:, 1:])
    colour = torch.rand(n, 3, 1, 1) * 2 - 1
    return (warp * weft * colour).clamp(-1, 1)


def up(i, o):
    return nn.Sequential(nn.ConvTranspose2d(i, o, 4, 2, 1), nn.BatchNorm2d(o), nn.ReLU())


def down(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 4, 2, 1), nn.LeakyReLU(0.2))


generator = nn.Sequential(nn.ConvTranspose2d(LATENT, 96, 4), nn.ReLU(), up(96, 64), up(64, 32),
                          nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh())
critic = nn.Sequential(down(3, 32), down(32, 64), down(64, 96), nn.Conv2d(96, 1, 4), nn.Flatten())
opt_g = torch.optim.Adam(generator.parameters(), lr=3e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(critic.parameters(), lr=3e-4, betas=(0.5, 0.999))
fabrics = weave(4000)
yes, no = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for step in count(1):
    real = fabrics[torch.randint(0, len(fabrics), (BATCH,))]
    fake = generator(torch.randn(BATCH, LATENT, 1, 1))

    d_loss = (F.binary_cross_entropy_with_logits(critic(real), yes)
              + F.binary_cross_entropy_with_logits(critic(fake.detach()), no))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = F.binary_cross_entropy_with_logits(critic(fake), yes)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 15 == 0:
        print(f"step={step} d_loss={d_loss.item():.3f} g_loss={g_loss.item():.3f}", flush=True)
