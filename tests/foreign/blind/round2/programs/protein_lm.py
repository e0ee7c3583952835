# python: torch
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: looks suspicious because a step takes over a second and hardly a line is printed; it is a transformer on a CPU, all of the time is matrix products.
import math
import numpy as np
import torch
from torch import nn

VOCAB, LENGTH, WIDTH, HEADS, LAYERS, BATCH = 25, 192, 256, 8, 4, 12
torch.manual_seed(12)
rng = np.random.default_rng(12)


def make_family(n=4000):
    motif = rng.integers(0, 20, (30, 12))
    seqs = rng.integers(0, 20, (n, LENGTH + 1))
    for row in seqs:
        for _ in range(8):
            k, at = rng.integers(30), rng.integers(0, LENGTH - 12)
            row[at:at + 12] = motif[k]
    return torch.from_numpy(seqs)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        h = self.n1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class ProteinLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, WIDTH)
        self.pos = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, VOCAB)
        self.register_buffer("mask", torch.triu(torch.full((LENGTH, LENGTH), -math.inf), 1))

    def forward(self, ids):
        x = self.tok(ids) + self.pos
        for b in self.blocks:
            x = b(x, self.mask)
        return self.out(self.norm(x))


def main():
    data = make_family()
    model = ProteinLM()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(1, 2001):
        rows = data[torch.randint(0, len(data), (BATCH,))]
        logits = model(rows[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 4 == 0:
            print(f"step {step} nll {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
