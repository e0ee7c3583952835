# python: torch
# expected: step-time-grows [also accepted: hot-line]
# verdict: slow
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# where: register_forward_hook / collect( / stats[name] = 
# Why: the forward hooks for activation statistics are registered inside the training loop and never removed, so step n runs n of them.
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
torch.set_num_threads(os.cpu_count())
N = 8000
X = torch.randn(N, 64)
Y = (X[:, :4].sum(1) > 0).long() + 2 * (X[:, 4:8].prod(1) > 0).long()


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, 2 * dim)
        self.fc2 = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.fc2(F.gelu(self.fc1(self.norm(x))))


class ResMLP(nn.Module):
    def __init__(self, dim=256, depth=4):
        super().__init__()
        self.stem = nn.Linear(64, dim)
        self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 4)

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


model = ResMLP()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
stats = {}


def collect(name):
    def hook(module, args, output):
        out = output.detach()
        stats[name] = (out.mean().item(), out.std().item(), out.abs().max().item())
    return hook


for step in range(1, 20001):
    idx = torch.randint(0, N, (128,))
    for name, module in model.named_modules():
        if isinstance(module, Block):
            module.register_forward_hook(collect(name))
    logits = model(X[idx])
    loss = F.cross_entropy(logits, Y[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        mean, std, peak = stats["blocks.3"]
        print(f"step {step} loss {loss.item():.4f} act {mean:+.3f}/{std:.3f} max {peak:.2f}", flush=True)
