# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a Python loop over time with an LSTM cell, a cyclic learning rate and noisy losses; the cell's own products of matrices are
# the work, and the loss falls.
"""Early warning of earthquakes: an LSTM cell stepped by hand over seismograms, with a learning rate in cycles."""
import argparse
import logging

import torch
from torch import nn

log = logging.getLogger("tremor")


class Warner(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.LSTMCell(channels, hidden)
        self.gate = nn.Linear(hidden, 1)
        self.out = nn.Linear(hidden, 3)

    def forward(self, waves):
        h = waves.new_zeros(len(waves), self.hidden)
        c = torch.zeros_like(h)
        kept = torch.zeros_like(h)
        for t in range(waves.shape[1]):
            h, c = self.cell(waves[:, t], (h, c))
            weight = torch.sigmoid(self.gate(h))
            kept = weight * h + (1 - weight) * kept
        return self.out(kept)


def seismograms(count, length, channels, generator):
    kind = torch.randint(0, 3, (count,), generator=generator)
    waves = torch.randn(count, length, channels, generator=generator)
    t = torch.arange(length).float()
    onset = torch.randint(5, length - 12, (count, 1), generator=generator)
    after = (t >= onset).float()
    tone = torch.tensor([0.0, 0.5, 1.2])[kind].unsqueeze(1)
    swell = (kind > 0).float().unsqueeze(1) * after * torch.sin(tone * (t - onset))
    return waves * 0.6 + 1.2 * swell.unsqueeze(2), kind


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--length", type=int, default=24)
    parser.add_argument("--hidden", type=int, default=96)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(9)
    model = Warner(6, args.hidden)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    cycle = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.02, 0.12, step_size_up=60)
    test_x, test_y = seismograms(256, args.length, 6, generator)
    for step in range(1, args.steps + 1):
        waves, kind = seismograms(args.batch, args.length, 6, generator)
        loss = nn.functional.cross_entropy(model(waves), kind)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        cycle.step()
        if step % 5 == 0:
            log.info("step %d loss %.4f lr %.3f", step, loss.item(), cycle.get_last_lr()[0])
        if step % 60 == 0:
            with torch.no_grad():
                right = (model(test_x).argmax(1) == test_y).float().mean().item()
            log.info("test accuracy %.3f", right)


if __name__ == "__main__":
    main()
