# python: torch
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the learning curve is a list of tensors with their history, so the graph of every twentieth step, with what it saved, stays in
# memory for the whole run. With loss.item() the memory is steady.
"""How many flights until this jet engine needs an overhaul? A recurrent net over the last 24 flights of 14 sensors."""
import time

import numpy as np
import torch
import torch.nn as nn

FLIGHTS = 24
SENSORS = 14


def fly_engines(engines, rng):
    """Sensors drift with wear; the remaining flights (in hundreds) are to be told from them."""
    windows, left = [], []
    for _ in range(engines):
        life = rng.integers(150, 320)
        wear = (np.arange(life) / life) ** rng.uniform(1.5, 3.0)
        mixing = rng.normal(0, 0.15, SENSORS) + np.linspace(-1.2, 1.2, SENSORS)
        sensors = wear[:, None] * mixing + rng.normal(0, 0.15, (life, SENSORS))
        for end in range(FLIGHTS, life, 6):
            windows.append(sensors[end - FLIGHTS:end])
            left.append(min(life - end, 130) / 100)
    return torch.tensor(np.array(windows), dtype=torch.float32), torch.tensor(left, dtype=torch.float32)


class WearCell(nn.Module):
    """A gated cell whose forget gate also sees how fast the sensors change."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.gates = nn.Linear(2 * inputs + hidden, 2 * hidden)
        self.candidate = nn.Linear(inputs + hidden, hidden)

    def forward(self, x, change, h):
        forget, update = torch.sigmoid(self.gates(torch.cat([x, change, h], 1))).chunk(2, 1)
        new = torch.tanh(self.candidate(torch.cat([x, forget * h], 1)))
        return update * h + (1 - update) * new


class EngineNet(nn.Module):
    def __init__(self, hidden=160):
        super().__init__()
        self.hidden = hidden
        self.cell = WearCell(SENSORS, hidden)
        self.head = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, windows):
        h = windows.new_zeros(len(windows), self.hidden)
        before = windows[:, 0]
        for t in range(windows.shape[1]):
            h = self.cell(windows[:, t], windows[:, t] - before, h)
            before = windows[:, t]
        return self.head(h).squeeze(1)


def main():
    torch.manual_seed(5)
    windows, left = fly_engines(220, np.random.default_rng(5))
    print(f"{len(windows)} windows of {FLIGHTS} flights", flush=True)
    model = EngineNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.SmoothL1Loss(beta=0.3)
    step, curve, began = 0, [], time.time()
    for epoch in range(1000):
        for rows in torch.randperm(len(windows)).split(128):
            loss = criterion(model(windows[rows]), left[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 20 == 0:
                curve.append(loss.item())
                recent = float(sum(curve[-8:])) / len(curve[-8:])
                print(f"epoch {epoch + 1} step {step}: loss {float(loss):.4f}, lately {recent:.4f}, "
                      f"{step / (time.time() - began):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
