# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 30
# where: set_num_threads
# Why: The settings of an 8 core workstation are used on a machine with two cores: 8 OpenMP threads take turns in every small
#   convolution.
import json
import logging
import math

import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("tides")

CONFIG = json.loads("""
{
  "name": "tides-tcn-v3",
  "history": 192,
  "horizon": 24,
  "channels": 32,
  "levels": 4,
  "batch_size": 16,
  "lr": 0.001,
  "threads": 8
}
""")


def tide(hours, stations=40):
    t = torch.arange(hours, dtype=torch.float32)
    g = torch.Generator().manual_seed(5)
    total = torch.zeros(stations, hours)
    for period in (12.42, 12.0, 25.82, 23.93):
        amp = torch.rand(stations, 1, generator=g) + 0.2
        phase = torch.rand(stations, 1, generator=g) * 2 * math.pi
        total += amp * torch.sin(2 * math.pi * t / period + phase)
    surge = torch.randn(stations, hours, generator=g).cumsum(1)
    surge = surge - surge.mean(1, keepdim=True)
    return total + 0.02 * surge


class Level(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.a = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)
        self.b = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)

    def forward(self, x):
        return x + torch.relu(self.b(torch.relu(self.a(x))))


class TideNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        c = cfg["channels"]
        self.first = nn.Conv1d(1, c, 1)
        self.levels = nn.Sequential(*[Level(c, 2 ** i) for i in range(cfg["levels"])])
        self.last = nn.Linear(c * cfg["history"] // 8, cfg["horizon"])

    def forward(self, x):
        h = self.levels(self.first(x.unsqueeze(1)))
        return self.last(h[:, :, ::8].flatten(1))


def sample(series, cfg):
    n, hours = series.shape
    span = cfg["history"] + cfg["horizon"]
    rows = torch.randint(0, n, (cfg["batch_size"], 1))
    start = torch.randint(0, hours - span, (cfg["batch_size"], 1))
    window = series[rows, start + torch.arange(span)]
    return window[:, :cfg["history"]], window[:, cfg["history"]:]


def main(cfg):
    torch.set_num_threads(cfg["threads"])
    torch.manual_seed(0)
    series = tide(24 * 365)
    net = TideNet(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    running = None
    for step in range(1, 1_000_000):
        past, future = sample(series, cfg)
        loss = (net(past) - future).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
        if step % 5 == 0:
            log.info("step %d mse %.4f", step, running)


if __name__ == "__main__":
    main(CONFIG)
