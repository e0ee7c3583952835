# python: torch
# expected: healthy
# verdict: healthy
# seconds: 40
# how: attach
# Why: Looks suspicious because an LBFGS step evaluates its closure many times, so steps are long and uneven, single-threaded, and the printed loss is nearly converged.
import math

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, width=64, depth=4):
        super().__init__()
        sizes = [2] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, xt):
        h = xt
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return self.out(h)


def collocation(count):
    xt = torch.rand(count, 2)
    xt.requires_grad_(True)
    return xt


def residual(model, xt, alpha=0.1):
    u = model(xt)
    du = torch.autograd.grad(u.sum(), xt, create_graph=True)[0]
    u_x, u_t = du[:, :1], du[:, 1:]
    u_xx = torch.autograd.grad(u_x.sum(), xt, create_graph=True)[0][:, :1]
    return u_t - alpha * u_xx


def boundary(count):
    x = torch.rand(count, 1)
    start = torch.cat([x, torch.zeros_like(x)], dim=1)
    side = torch.cat([(torch.rand(count, 1) > 0.5).float(), torch.rand(count, 1)], dim=1)
    return start, torch.sin(math.pi * x), side


def main():
    torch.manual_seed(0)
    model = Field()
    inside = collocation(3000)
    start, start_values, side = boundary(300)
    optimizer = torch.optim.LBFGS(
        model.parameters(), lr=0.8, max_iter=20, history_size=30, line_search_fn="strong_wolfe")
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = residual(model, inside).pow(2).mean()
        loss = loss + 5 * (model(start) - start_values).pow(2).mean()
        loss = loss + 5 * model(side).pow(2).mean()
        loss.backward()
        return loss

    for step in range(5000):
        loss = optimizer.step(closure)
        print(f"step {step} loss {loss.item():.3e} evaluations {calls}", flush=True)
        if step % 6 == 5:
            inside = collocation(3000)
            optimizer.state.clear()


if __name__ == "__main__":
    main()
