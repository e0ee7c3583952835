# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the loss is noisy and stops falling far above zero, because one label in five is wrong on purpose; the learning rate warms up
# and every batch is drawn anew, on the GPU, which is busy without a break. Nothing is wrong.
"""Classify leaves from patches with a mixer."""
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_float32_matmul_precision("high")
device = "cuda"
SPECIES, PATCHES, WIDTH, DEPTH, BATCH = 200, 196, 768, 4, 256


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.across = nn.Sequential(nn.Linear(PATCHES, 384), nn.GELU(), nn.Linear(384, PATCHES))
        self.within = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(192, WIDTH)
        self.blocks = nn.ModuleList(MixerBlock() for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, SPECIES)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(dim=1))


def draw_leaves(shapes):
    species = torch.randint(SPECIES, (BATCH,), device=device)
    leaves = shapes[species] + torch.randn(BATCH, PATCHES, 192, device=device)
    wrong = torch.rand(BATCH, device=device) < 0.2
    return leaves, torch.where(wrong, torch.randint(SPECIES, (BATCH,), device=device), species)


def main():
    torch.manual_seed(6)
    shapes = torch.randn(SPECIES, PATCHES, 192, device=device) + 0.5 * torch.randn(SPECIES, 1, 192, device=device)
    with torch.device(device):
        model = Mixer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / 25) * 0.5 * (1 + math.cos(math.pi * min(1, step / 20_000))))
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters, {SPECIES} species", flush=True)
    began = time.time()
    for step in range(1, 200_001):
        leaves, species = draw_leaves(shapes)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(leaves)
        loss = F.cross_entropy(logits.float(), species)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step == 1 or step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f} lr {schedule.get_last_lr()[0]:.2e} t {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
