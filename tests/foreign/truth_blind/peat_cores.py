# python: torch
# truth: ask=waits for pipe, step=computes, turn=runs own code
# Why: short steps; every proposal is judged by an old assay program, a child that answers through its standard output.
import struct
import subprocess
import sys

import torch
from torch import nn

from stopwatch import enter, part, started

ASSAY = """
import struct, sys
def settle(depths):
    mass, age = 1.0, 0.0
    for layer in range(5000):
        for depth in depths[:4]:
            mass += 0.001 * depth / (1.0 + age)
        age += abs(mass) * 1e-3
    return mass
while True:
    line = sys.stdin.buffer.read(64)
    if len(line) < 64:
        break
    sys.stdout.buffer.write(struct.pack("d", settle(struct.unpack("8d", line))))
    sys.stdout.buffer.flush()
"""


class Assay:
    def __init__(self):
        self.program = subprocess.Popen([sys.executable, "-c", ASSAY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(self, depths):
        self.program.stdin.write(struct.pack("8d", *depths))
        self.program.stdin.flush()
        return struct.unpack("d", self.program.stdout.read(8))[0]


class Driller(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 192), nn.Tanh(), nn.Linear(192, 192), nn.Tanh(), nn.Linear(192, 8))
        self.spread = nn.Parameter(torch.zeros(8))

    def forward(self, sites):
        return torch.distributions.Normal(self.layers(sites), self.spread.exp())


def rank_sites(marks, known):
    """Sites in the order in which they should be drilled next, with ties broken by the neighbours' marks."""
    order = []
    for name, mark in marks.items():
        near = [marks[other] for other in known[name]]
        order.append((round(mark + 0.1 * sum(near) / len(near), 6), name))
    order.sort(reverse=True)
    return [name for _, name in order]


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    assay, driller = Assay(), Driller()
    optimizer = torch.optim.Adam(driller.parameters(), 3e-4)
    sites = torch.randn(700, 16)
    marks = {f"site{i}": 0.0 for i in range(700)}
    known = {f"site{i}": [f"site{(i * k + 1) % 700}" for k in range(2, 7)] for i in range(700)}
    running = 0.0
    assay.judge([0.0] * 8)
    started()
    enter("turn")  # open all the time: whatever is not one of the others
    for core in range(1_000_000):
        if core % 3 == 0:
            queue = rank_sites(marks, known)
        name = queue[core % 20]
        place = sites[int(name[4:])]
        with part("step"):
            with torch.no_grad():
                depths = driller(place).sample()
        with part("ask"):
            mass = assay.judge(depths.tolist())
        with part("step"):
            gain = mass - running
            spread = driller(sites[core % 500:core % 500 + 64])
            loss = -gain * driller(place).log_prob(depths).sum() - 1e-3 * spread.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        running += 0.05 * gain
        marks[name] = mass
        if core % 500 == 0:
            print(f"core {core} mass {running:.4f}", flush=True)


if __name__ == "__main__":
    main()
