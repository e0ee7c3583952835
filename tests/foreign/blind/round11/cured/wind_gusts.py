import argparse
import time

import torch
from torch import nn


def parse():
    p = argparse.ArgumentParser(description="Gust forecast from mast readings")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--batch", type=int, default=192)
    p.add_argument("--hidden", type=int, default=256)
    p.add_argument("--window", type=int, default=12)
    p.add_argument("--channels", type=int, default=12)
    p.add_argument("--steps", type=int, default=20000)
    p.add_argument("--lr", type=float, default=1e-3)
    return p.parse_args()


def readings(hours, channels, generator):
    """Slow swell plus correlated noise, one column per anemometer."""
    t = torch.arange(hours, dtype=torch.float32)[:, None]
    period = torch.linspace(11.0, 60.0, channels)[None]
    phase = torch.rand(channels, generator=generator)[None] * 6.28
    swell = torch.sin(6.28 * t / period + phase) + 0.5 * torch.sin(6.28 * t / (period * 3.7))
    noise = torch.randn(hours, channels, generator=generator) * 0.15
    return swell + noise


class GatedMemory(nn.Module):
    """A leaky gated cell with a layer-normed candidate, unrolled over the window."""

    def __init__(self, channels, hidden):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.Linear(channels, 2 * hidden)
        self.rec = nn.Linear(hidden, 2 * hidden, bias=False)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, channels)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.hidden)
        for t in range(x.shape[1]):
            gate, cand = (self.inp(x[:, t]) + self.rec(h)).chunk(2, dim=1)
            z = torch.sigmoid(gate)
            h = (1 - z) * h + z * torch.tanh(self.norm(cand))
        return self.head(h)


def sample(series, opts, generator):
    at = torch.randint(0, len(series) - opts.window - 1, (opts.batch,), generator=generator)
    index = at[:, None] + torch.arange(opts.window)[None]
    return series[index], series[at + opts.window]


def main():
    opts = parse()
    torch.set_num_threads(opts.threads)
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(8)
    series = readings(60000, opts.channels, generator)
    model = GatedMemory(opts.channels, opts.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, opts.steps)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(series)} hours", flush=True)

    began = time.time()
    mean = None
    for step in range(1, opts.steps + 1):
        x, y = sample(series, opts, generator)
        loss = nn.functional.smooth_l1_loss(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 5 == 0:
            value = loss.item()
            mean = value if mean is None else 0.9 * mean + 0.1 * value
            print(f"step {step} loss {value:.4f} smooth {mean:.4f} ({step / (time.time() - began):.1f} steps/s)", flush=True)


if __name__ == "__main__":
    main()
