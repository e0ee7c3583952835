# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 28
# Why: a Python loop over time steps with its own cell, a small batch, a warm-up of the rate that holds the loss still at first, clipped
# gradients and a sample printed now and then. The products of the cell are the work.
import math
import time

import torch
from torch import nn
from torch.nn import functional as F

SYLLABLES = 40
LENGTH = 32
BATCH = 64
WARMUP = 30


class Aviary:
    """Songs from a second-order grammar: what comes next depends on the last two syllables, with slips."""

    def __init__(self, seed=12):
        self.g = torch.Generator().manual_seed(seed)
        self.table = torch.randint(0, SYLLABLES, (SYLLABLES, 6), generator=self.g)

    def songs(self, n):
        s = torch.randint(0, SYLLABLES, (n, 2), generator=self.g)
        out = [s[:, 0], s[:, 1]]
        for _ in range(LENGTH - 1):
            nxt = self.table[out[-1], (out[-2] % 6)]
            slip = torch.rand(n, generator=self.g) < 0.1
            nxt = torch.where(slip, torch.randint(0, SYLLABLES, (n,), generator=self.g), nxt)
            out.append(nxt)
        return torch.stack(out, 1)


class Cell(nn.Module):
    """Gated update with a multiplicative path from the syllable to the state."""

    def __init__(self, d, h):
        super().__init__()
        self.x = nn.Linear(d, 3 * h)
        self.h = nn.Linear(h, 3 * h, bias=False)
        self.norm = nn.LayerNorm(h)

    def forward(self, x, h):
        a, b, c = self.x(x).chunk(3, -1)
        p, q, r = self.h(h).chunk(3, -1)
        keep = torch.sigmoid(a + p + 1.0)
        new = torch.tanh(b + torch.sigmoid(c) * q + r)
        return self.norm(keep * h + (1 - keep) * new)


class Decoder(nn.Module):
    def __init__(self, d=64, h=224):
        super().__init__()
        self.emb = nn.Embedding(SYLLABLES, d)
        self.cells = nn.ModuleList([Cell(d, h), Cell(h, h)])
        self.out = nn.Linear(h, SYLLABLES)
        self.size = h

    def forward(self, s):
        state = [torch.zeros(len(s), self.size) for _ in self.cells]
        seen = []
        for t in range(s.shape[1]):
            v = self.emb(s[:, t])
            for i, cell in enumerate(self.cells):
                state[i] = v = cell(v, state[i])
            seen.append(v)
        return self.out(torch.stack(seen, 1))


def rate(step):
    if step < WARMUP:
        return (step + 1) / WARMUP
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - WARMUP) / 4000)))


if __name__ == "__main__":
    torch.manual_seed(5)
    birds, net = Aviary(), Decoder()
    opt = torch.optim.AdamW(net.parameters(), lr=1.5e-3)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, rate)
    t0 = time.perf_counter()
    for step in range(1, 4001):
        s = birds.songs(BATCH)
        logits = net(s[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, SYLLABLES), s[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        sched.step()
        print(f"step {step} loss {loss.item():.4f} grad {float(norm):.3f} lr {sched.get_last_lr()[0]:.2e} {1000 * (time.perf_counter() - t0) / step:.0f} ms/step", flush=True)
        if step % 50 == 0:
            print("   song:", " ".join(f"{int(k):02d}" for k in logits[0, :16].argmax(-1)), flush=True)
