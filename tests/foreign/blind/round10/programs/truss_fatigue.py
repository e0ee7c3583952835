# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 25
# where: set_num_threads
# Why: two members of an ensemble train side by side, and each of them takes as many threads as the machine has cores: twice as many
# busy threads as cores, which spin for one another at the end of every parallel piece.
"""A deep ensemble that predicts the fatigue life of truss joints, its members trained side by side."""
import os
import time

import torch
import torch.multiprocessing as mp
from torch import nn

MEMBERS = 2


def joints(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 24, generator=g) * 2 - 1
    stress = (3 * x[:, 0] * x[:, 1]).sin() + x[:, 2:8].pow(2).sum(1) - (x[:, 8:12].exp()).mean(1)
    return x, (stress + 0.05 * torch.randn(n, generator=g)).unsqueeze(1)


class Member(nn.Module):
    def __init__(self, hidden=384):
        super().__init__()
        self.mean = nn.Sequential(
            nn.Linear(24, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x):
        mu, raw = self.mean(x).chunk(2, dim=1)
        return mu, nn.functional.softplus(raw) + 1e-3


def fit(member, results):
    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(100 + member)
    x, y = joints(20000, seed=member)
    model = Member()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, 200001):
        rows = torch.randint(0, len(x), (256,))
        mu, sigma = model(x[rows])
        nll = (sigma.log() + 0.5 * ((y[rows] - mu) / sigma) ** 2).mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
        if step % 10 == 0:
            results.put((member, step, nll.item()))
    results.put((member, None, None))


def main():
    ctx = mp.get_context("spawn")
    results = ctx.Queue()
    members = [ctx.Process(target=fit, args=(m, results), daemon=True) for m in range(MEMBERS)]
    for p in members:
        p.start()
    began, running = time.time(), MEMBERS
    steps = [0] * MEMBERS
    while running:
        member, step, nll = results.get()
        if step is None:
            running -= 1
            continue
        steps[member] = step
        print(f"[{time.time() - began:6.1f} s] member {member} step {step} nll {nll:.4f} all steps {sum(steps)}", flush=True)
    for p in members:
        p.join()


if __name__ == "__main__":
    main()
