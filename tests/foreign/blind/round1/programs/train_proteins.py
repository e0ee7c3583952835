# python: torch
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: a large transformer on the CPU needs seconds for each step and prints one line per step; slow, but every second is matrix products.
import time

import numpy as np
import torch
from torch import nn

RESIDUES, LENGTH, BATCH = 24, 192, 8


class ProteinLM(nn.Module):
    def __init__(self, width=320, layers=6):
        super().__init__()
        self.embed = nn.Embedding(RESIDUES, width)
        self.place = nn.Parameter(torch.randn(LENGTH, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, RESIDUES)
        for part in (self.embed, self.head):
            nn.init.normal_(part.weight, std=0.02)

    def forward(self, chain):
        return self.head(self.body(self.embed(chain) + self.place))


def make_chains(n=2000):
    rng = np.random.default_rng(14)
    motif = rng.integers(1, RESIDUES, (30, 16))
    chains = motif[rng.integers(0, 30, (n, LENGTH // 16))].reshape(n, LENGTH)
    mutate = rng.random(chains.shape) < 0.05
    chains[mutate] = rng.integers(1, RESIDUES, mutate.sum())
    return torch.from_numpy(chains)


def main():
    torch.manual_seed(0)
    chains = make_chains()
    model = ProteinLM()
    weights = sum(p.numel() for p in model.parameters())
    print(f"{weights / 1e6:.1f} M weights", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    started = time.time()
    for step in range(1, 2001):
        chain = chains[torch.randint(0, len(chains), (BATCH,))]
        hidden = torch.rand(chain.shape) < 0.15
        logits = model(chain.masked_fill(hidden, 0))
        loss = nn.functional.cross_entropy(logits[hidden], chain[hidden])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"step {step}  loss {loss.item():.3f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
