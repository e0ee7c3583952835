# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: An adversarial pair: both losses swing and never settle, as they should. The networks are the work.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
Z, B = 48, 32


def craters(n, size=32):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    img = torch.randn(n, size, size) * 0.05
    for _ in range(4):
        cy, cx, r = torch.rand(3, n, 1, 1) * torch.tensor([32.0, 32.0, 6.0]).view(3, 1, 1, 1) + torch.tensor([0.0, 0.0, 2.0]).view(3, 1, 1, 1)
        d = ((yy - cy) ** 2 + (xx - cx) ** 2).sqrt()
        img = img + torch.exp(-((d - r) ** 2) / 2) * 0.8 - (d < r).float() * 0.35
    return img.clamp(-1, 1).unsqueeze(1)


G = nn.Sequential(
    nn.Linear(Z, 128 * 4 * 4), nn.Unflatten(1, (128, 4, 4)), nn.BatchNorm2d(128), nn.ReLU(),
    nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh())

D = nn.Sequential(
    nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout(0.25),
    nn.Conv2d(64, 128, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout(0.25),
    nn.Flatten(), nn.Linear(128 * 4 * 4, 1))

opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = F.binary_cross_entropy_with_logits
photos = craters(3000)

for it in range(1, 10 ** 6):
    real = photos[torch.randint(len(photos), (B,))]
    fake = G(torch.randn(B, Z))

    out_real, out_fake = D(real), D(fake.detach())
    loss_d = bce(out_real, torch.full_like(out_real, 0.9)) + bce(out_fake, torch.zeros_like(out_fake))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    judged = D(fake)
    loss_g = bce(judged, torch.ones_like(judged))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

    if it % 20 == 0:
        print(f"it {it:6d} | D {loss_d.item():.3f} | G {loss_g.item():.3f} | D(x) {out_real.sigmoid().mean():.2f} | "
              f"D(G(z)) {judged.sigmoid().mean():.2f}", flush=True)
