# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: a cell of one's own must be stepped through time in Python and its matrix products are the work; the losses are noisy,
# because a snail's way is, and there is a small evaluation and a saved model now and then.
"""Where will the snail go: a recurrent mixture of next steps, with a cell that forgets and remembers with one gate."""
import os
import tempfile

import torch
from torch import nn
from torch.nn import functional as F

LENGTH, BATCH, WIDTH = 24, 64, 128


def draw_trails(count, generator):
    """Headings turn slowly, speed depends on how wet the ground is; now and then a snail retreats into its shell."""
    wet = torch.rand(count, 1, generator=generator)
    turn = 0.25 * torch.randn(count, LENGTH + 1, generator=generator) + 0.3 * torch.randn(count, 1, generator=generator)
    heading = turn.cumsum(1)
    awake = (torch.rand(count, LENGTH + 1, generator=generator) > 0.08).float()
    speed = (0.3 + wet) * awake
    steps = torch.stack([speed * heading.cos(), speed * heading.sin()], -1)
    steps = steps + 0.05 * torch.randn(count, LENGTH + 1, 2, generator=generator)
    return torch.cat([steps, wet[:, None].expand(-1, LENGTH + 1, 1)], -1)


class CoupledCell(nn.Module):
    def __init__(self, inside, width):
        super().__init__()
        self.both = nn.Linear(inside + width, 3 * width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, state):
        gate, new, out = self.both(torch.cat([x, state], -1)).chunk(3, -1)
        gate = torch.sigmoid(gate + 1)
        state = self.norm(gate * state + (1 - gate) * torch.tanh(new))
        return state * torch.sigmoid(out), state


class TrailModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(3, WIDTH)
        self.first, self.second = CoupledCell(WIDTH, WIDTH), CoupledCell(WIDTH, WIDTH)
        self.leave = nn.Linear(WIDTH, 4)

    def forward(self, trail):
        a = b = trail.new_zeros(len(trail), WIDTH)
        out = []
        for moment in self.enter(trail).unbind(1):
            x, a = self.first(torch.tanh(moment), a)
            y, b = self.second(x, b)
            out.append(x + y)
        return self.leave(torch.stack(out, 1))


def loss_of(model, trails):
    mean, spread = model(trails[:, :-1]).chunk(2, -1)
    return F.gaussian_nll_loss(mean, trails[:, 1:, :2], F.softplus(spread) + 1e-2)


def main():
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(17)
    held_out = draw_trails(256, generator)
    model = TrailModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-4)
    with tempfile.TemporaryDirectory() as folder:
        for step in range(1, 50_001):
            loss = loss_of(model, draw_trails(BATCH, generator))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            print(f"step {step} loss {loss.item():.4f}", flush=True)
            if step % 60 == 0:
                with torch.no_grad():
                    print(f"  held out {loss_of(model, held_out).item():.4f}", flush=True)
                torch.save(model.state_dict(), os.path.join(folder, "trails.pt"))


if __name__ == "__main__":
    main()
