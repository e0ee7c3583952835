# python: torch
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# Why: every optimizer step takes a second or more and little is printed: L-BFGS evaluates the loss up to twenty times per step, with second
# derivatives through the network. Slow but sound, and the loss goes down.
import math
import os
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(os.cpu_count())
NU = 0.01 / math.pi


class Field(nn.Module):
    def __init__(self, width=48, depth=5):
        super().__init__()
        sizes = [2] + [width] * depth + [1]
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])
        for layer in self.layers:
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x, t):
        h = torch.cat([x, t], dim=1)
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)


def grad(out, inp):
    return torch.autograd.grad(out, inp, torch.ones_like(out), create_graph=True)[0]


field = Field()
x_in = (2 * torch.rand(2500, 1) - 1).requires_grad_()
t_in = torch.rand(2500, 1).requires_grad_()
x_0 = 2 * torch.rand(200, 1) - 1
u_0 = -torch.sin(math.pi * x_0)
t_b = torch.rand(200, 1)
x_b = torch.where(torch.rand(200, 1) < 0.5, -1.0, 1.0)

optimizer = torch.optim.LBFGS(field.parameters(), lr=1.0, max_iter=20, history_size=50,
                              tolerance_grad=0, tolerance_change=0, line_search_fn="strong_wolfe")
evaluations = 0


def closure():
    global evaluations
    evaluations += 1
    optimizer.zero_grad()
    u = field(x_in, t_in)
    u_x, u_t = grad(u, x_in), grad(u, t_in)
    residual = u_t + u * u_x - NU * grad(u_x, x_in)
    loss = (residual ** 2).mean() \
        + ((field(x_0, torch.zeros_like(x_0)) - u_0) ** 2).mean() \
        + (field(x_b, t_b) ** 2).mean()
    loss.backward()
    return loss


for step in range(1, 2001):
    loss = optimizer.step(closure)
    print(f"step {step} loss {loss.item():.3e} evaluations {evaluations}", flush=True)
