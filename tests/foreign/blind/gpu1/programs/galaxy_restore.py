# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a validation every eighty steps takes a moment, the learning rate starts anew again and again and the loss shakes with the noise
# drawn for each picture; there are no loader workers, but all pictures lie on the GPU and a batch is one index. The GPU works.
"""Restore noisy galaxy pictures with a residual network."""
import time

import torch
import torch.nn.functional as F
from torch import nn

SIDE, WIDTH, BATCH = 128, 128, 48
TRAINED, HELD_OUT = 2400, 384
device = "cuda"


class Restorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, WIDTH, 5, padding=2)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.BatchNorm2d(WIDTH), nn.ReLU()) for _ in range(6))
        self.head = nn.Conv2d(WIDTH, 1, 3, padding=1)

    def forward(self, x):
        x = self.stem(x.contiguous(memory_format=torch.channels_last))
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


def draw_galaxies(count):
    axis = torch.linspace(-1, 1, SIDE, device=device)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    spread = torch.tensor([1.0, 1.0, 3.0, 0.3], device=device)
    lowest = torch.tensor([-0.5, -0.5, 0.0, 0.1], device=device)
    y, x, tilt, size = (torch.rand(count, 4, device=device) * spread + lowest)[:, :, None, None].unbind(1)
    radius = ((yy - y) ** 2 + ((xx - x) * (1 + tilt)) ** 2).sqrt()
    return (255 * torch.exp(-radius / size)).to(torch.uint8)


def degrade(pictures):
    clean = pictures.float().div(255).unsqueeze(1)
    strength = torch.rand(len(clean), 1, 1, 1, device=device) * 0.6
    return clean, clean + strength * torch.randn_like(clean)


def restore(model, noisy):
    with torch.autocast(device, dtype=torch.bfloat16):
        return model(noisy).float()


@torch.no_grad()
def validate(model, pictures):
    model.eval()
    error = torch.zeros((), device=device)
    parts = pictures.split(BATCH)
    for part in parts:
        clean, noisy = degrade(part)
        error += F.l1_loss(restore(model, noisy), clean)
    model.train()
    return error.item() / len(parts)


def main():
    torch.manual_seed(9)
    trained, held_out = draw_galaxies(TRAINED), draw_galaxies(HELD_OUT)
    model = Restorer().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=120)
    began, step = time.time(), 0
    for _ in range(10_000):
        for chosen in torch.randperm(TRAINED, device=device).split(BATCH):
            clean, noisy = degrade(trained[chosen])
            loss = 100 * F.mse_loss(restore(model, noisy), clean)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            step += 1
            if step == 1 or step % 5 == 0:
                print(f"step {step} loss {loss.item():.4f} t {time.time() - began:.1f}", flush=True)
            if step % 80 == 0:
                print(f"validation error {validate(model, held_out):.4f}", flush=True)


if __name__ == "__main__":
    main()
