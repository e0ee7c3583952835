# python: torch
# expected: host-memory-leak [also accepted: step-time-grows, host-memory-pressure]
# verdict: healthy|slow
# seconds: 30
# where: monitor = monitor +
# Why: a monitoring figure is summed up as a tensor with its graph over a very long epoch, so the activations of every fourth step so far are kept; it is not part of the loss, so nothing ever frees them.
import time

import numpy as np
import torch
from torch import nn

PATCH, LATENT, BATCH = 32, 16, 64


class TerrainVAE(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        size = PATCH * PATCH
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(size, width), nn.ReLU(), nn.Linear(width, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, width), nn.ReLU(), nn.Linear(width, size))

    def encode(self, patch):
        return self.encoder(patch).chunk(2, dim=1)

    def forward(self, patch):
        mean, logvar = self.encode(patch)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return self.decoder(z), mean, logvar


def make_patches(n=4000):
    rng = np.random.default_rng(10)
    yy, xx = np.mgrid[0:1:PATCH * 1j, 0:1:PATCH * 1j]
    patches = np.zeros((n, PATCH, PATCH), "float32")
    for _ in range(5):
        k = rng.uniform(1, 8, (n, 2, 1, 1))
        patches += rng.normal(0, 0.5, (n, 1, 1)) * np.sin(k[:, 0] * xx + k[:, 1] * yy + rng.uniform(0, 6, (n, 1, 1)))
    return torch.from_numpy(patches)


def roughness(patch):
    return (patch[:, 1:] - patch[:, :-1]).pow(2).mean().sqrt()


def main():
    torch.manual_seed(2)
    patches = make_patches()
    model = TerrainVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    started, monitor = time.time(), torch.zeros(())
    for step in range(1, 100001):
        patch = patches[torch.randint(0, len(patches), (BATCH,))]
        decoded, mean, logvar = model(patch)
        recon = nn.functional.mse_loss(decoded, patch.flatten(1))
        kl = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).mean()
        loss = recon + 0.05 * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if step % 4 == 0:
            sample = model.decoder(model.encode(patch)[0]).view(-1, PATCH, PATCH)
            monitor = monitor + (roughness(sample) - roughness(patch)).abs().detach()
        if step % 50 == 0:
            print(f"step {step}  loss {loss.item():.4f}  roughness error {4 * monitor.item() / step:.4f}  "
                  f"{time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
