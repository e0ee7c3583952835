# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a diffusion model's loss falls at the start and is noisy for ever after, gradients are clipped, a second copy of the weights is
# averaged every step and there is no loader worker; but the samples lie in memory, the copy costs next to nothing and the model is
# the work.
"""Draws wind-blown dunes: a small denoising diffusion model on height fields."""
import copy
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import lightning.pytorch as pl


def height_fields(n, size=16, seed=0):
    g = torch.Generator().manual_seed(seed)
    grid = torch.linspace(0, 2 * math.pi, size)
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    angle = (torch.rand(n, 1, 1, generator=g) - 0.5) * 0.8
    wave = 1.5 + 2.5 * torch.rand(n, 1, 1, generator=g)
    phase = 2 * math.pi * torch.rand(n, 1, 1, generator=g)
    s = torch.sin(wave * (x * torch.cos(angle) + y * torch.sin(angle)) + phase)
    return (0.7 * s + 0.3 * s.abs()).unsqueeze(1)


class Block(nn.Module):
    def __init__(self, c, emb):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1)
        self.n1, self.n2 = nn.GroupNorm(8, c), nn.GroupNorm(8, c)
        self.t = nn.Linear(emb, c)

    def forward(self, x, e):
        h = self.a(nn.functional.silu(self.n1(x))) + self.t(e)[:, :, None, None]
        return x + self.b(nn.functional.silu(self.n2(h)))


class Denoiser(nn.Module):
    def __init__(self, c=32, depth=3, emb=64):
        super().__init__()
        self.emb = emb
        self.inp, self.out = nn.Conv2d(1, c, 3, padding=1), nn.Conv2d(c, 1, 3, padding=1)
        self.blocks = nn.ModuleList(Block(c, emb) for _ in range(depth))

    def forward(self, x, t):
        f = torch.exp(torch.linspace(0, 6, self.emb // 2))
        e = torch.cat([torch.sin(t[:, None] * f), torch.cos(t[:, None] * f)], 1)
        h = self.inp(x)
        for b in self.blocks:
            h = b(h, e)
        return self.out(h)


class Dunes(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Denoiser()
        self.average = copy.deepcopy(self.net).requires_grad_(False)

    def training_step(self, batch, index):
        (x,) = batch
        t = torch.rand(len(x))
        keep = torch.cos(0.5 * math.pi * t)[:, None, None, None]
        noise = torch.randn_like(x)
        noisy = keep * x + (1 - keep ** 2).clamp_min(1e-5).sqrt() * noise
        loss = (self.net(noisy, t) - noise).pow(2).mean()
        if self.global_step % 10 == 0:
            print(f"it {self.global_step:6d} | mse {loss.item():.4f} | t {t.mean():.2f}", flush=True)
        return loss

    def on_train_batch_end(self, *_):
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), self.net.parameters()):
                slow.lerp_(fast, 0.005)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.net.parameters(), lr=4e-4)
        warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 40))
        return {"optimizer": opt, "lr_scheduler": {"scheduler": warm, "interval": "step"}}


pl.seed_everything(2)
fields = height_fields(6000)
trainer = pl.Trainer(max_steps=12000, accelerator="cpu", gradient_clip_val=1.0, logger=False, enable_checkpointing=False,
                     enable_progress_bar=False)
trainer.fit(Dunes(), DataLoader(TensorDataset(fields), batch_size=16, shuffle=True, drop_last=True))
