# python: loops
import json
import time

import numpy as np
import torch
from torch import nn

SETTINGS = json.loads("""
{
    "threads": 2,
    "batch": 16,
    "dim": 64,
    "layers": 3,
    "lr": 0.002,
    "seed": 0
}
""")
AMINO = 21
MAX_LEN = 160


class Residual(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.a = nn.Linear(dim, 2 * dim)
        self.b = nn.Linear(2 * dim, dim)
        self.mix = nn.Conv1d(dim, dim, 5, padding=2, groups=dim)

    def forward(self, h):
        h = h + self.mix(h.transpose(1, 2)).transpose(1, 2)
        return h + self.b(nn.functional.gelu(self.a(self.norm(h))))


class StabilityNet(nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        self.embed = nn.Embedding(AMINO, dim, padding_idx=0)
        self.layers = nn.Sequential(*[Residual(dim) for _ in range(layers)])
        self.out = nn.Linear(dim, 1)

    def forward(self, residues, mask):
        h = self.layers(self.embed(residues))
        h = (h * mask.unsqueeze(2)).sum(1) / mask.sum(1, keepdim=True)
        return self.out(h).squeeze(1)


def make_proteins(n=6000):
    rng = np.random.default_rng(2)
    lengths = rng.integers(40, MAX_LEN, n)
    residues = rng.integers(1, AMINO, (n, MAX_LEN))
    residues[np.arange(MAX_LEN) >= lengths[:, None]] = 0
    weights = rng.normal(size=AMINO)
    weights[0] = 0
    scores = weights[residues].sum(1) / lengths * 4
    return torch.from_numpy(residues), torch.from_numpy(scores).float()


def main():
    torch.manual_seed(SETTINGS["seed"])
    torch.set_num_threads(SETTINGS["threads"])
    residues, scores = make_proteins()
    net = StabilityNet(SETTINGS["dim"], SETTINGS["layers"])
    opt = torch.optim.Adam(net.parameters(), lr=SETTINGS["lr"])
    start = time.time()
    for step in range(1, 10_000_000):
        pick = torch.randint(0, len(residues), (SETTINGS["batch"],))
        batch = residues[pick]
        loss = nn.functional.mse_loss(net(batch, (batch > 0).float()), scores[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print(f"step {step:5d}  mse {loss.item():.4f}  elapsed {time.time() - start:.1f}", flush=True)


if __name__ == "__main__":
    main()
