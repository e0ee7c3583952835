# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Looks suspicious because both losses go up and down without falling, as they do in a sound GAN, and samples are written to files now and then.
import os
import tempfile

import numpy as np
import torch
from PIL import Image
from torch import nn

Z, SIDE = 32, 16


def generator():
    return nn.Sequential(
        nn.Linear(Z, 64 * 16), nn.Unflatten(1, (64, 4, 4)),
        nn.BatchNorm2d(64), nn.ReLU(),
        nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1), nn.Tanh(),
    )


def critic():
    return nn.Sequential(
        nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 16, 1),
    )


def strokes(count=4000, seed=6):
    rng = np.random.default_rng(seed)
    images = np.full((count, 1, SIDE, SIDE), -1.0, np.float32)
    for i in range(count):
        y, x = rng.integers(2, 6, 2)
        h, w = rng.integers(5, 9, 2)
        if rng.random() < 0.5:
            images[i, 0, y:y + h, x] = 1
            images[i, 0, y + h, x:x + w] = 1
        else:
            images[i, 0, y, x:x + w] = 1
            images[i, 0, y:y + h, x + w] = 1
    return torch.from_numpy(images)


def save_grid(images, path):
    grid = images[:64].reshape(8, 8, SIDE, SIDE).permute(0, 2, 1, 3).reshape(8 * SIDE, 8 * SIDE)
    Image.fromarray(((grid + 1) * 127).numpy().astype(np.uint8)).save(path)


def main():
    torch.manual_seed(0)
    real = strokes()
    g, d = generator(), critic()
    opt_g = torch.optim.Adam(g.parameters(), 2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(d.parameters(), 2e-4, betas=(0.5, 0.999))
    bce = nn.functional.binary_cross_entropy_with_logits
    fixed = torch.randn(64, Z)
    with tempfile.TemporaryDirectory() as folder:
        for step in range(100000):
            x = real[torch.randint(0, len(real), (64,))]
            fake = g(torch.randn(64, Z))
            yes, no = d(x), d(fake.detach())
            loss_d = bce(yes, torch.full_like(yes, 0.9)) + bce(no, torch.zeros_like(no))
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()
            answer = d(fake)
            loss_g = bce(answer, torch.ones_like(answer))
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()
            if step % 25 == 0:
                print(f"step {step} d {loss_d.item():.3f} g {loss_g.item():.3f}", flush=True)
            if step % 200 == 0:
                with torch.no_grad():
                    save_grid(g(fixed), os.path.join(folder, f"samples_{step}.png"))


main()
