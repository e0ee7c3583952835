# python: torch
# expected: step-time-grows [also accepted: hot-line]
# verdict: slow
# seconds: 40
# where: register_forward_hook / torch.quantile / def note
# Why: a forward hook that records the spread of the hidden state is registered in the loop and never removed, so each step runs one hook more than the step before.
import time

import numpy as np
import torch
from torch import nn

DAYS, INPUTS, BATCH = 60, 5, 64


class RunoffModel(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.gru = nn.GRU(INPUTS, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, weather):
        states, _ = self.gru(weather)
        return self.head(states)[..., 0]


def make_basins(n=2000):
    rng = np.random.default_rng(5)
    weather = rng.gamma(0.7, 1.0, (n, DAYS, INPUTS)).astype("float32")
    store, flow = np.zeros(n, "float32"), np.zeros((n, DAYS), "float32")
    for day in range(DAYS):
        store = 0.85 * store + weather[:, day, 0] - 0.1 * weather[:, day, 1]
        flow[:, day] = np.maximum(store, 0) * 0.2
    return torch.from_numpy(weather), torch.from_numpy(flow)


class Recorder:
    """Spread of the hidden state, for the supplementary figures."""

    def __init__(self):
        self.levels = torch.tensor([0.05, 0.5, 0.95])
        self.last = None

    def note(self, module, inputs, outputs):
        states = outputs[0].detach()[:, ::20].reshape(-1)
        self.last = torch.quantile(states, self.levels)


def main():
    torch.manual_seed(3)
    weather, flow = make_basins()
    model, recorder = RunoffModel(), Recorder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.gru.register_forward_hook(recorder.note)
    started = time.time()
    for step in range(1, 10001):
        pick = torch.randint(0, len(weather), (BATCH,))
        loss = nn.functional.mse_loss(model(weather[pick]), flow[pick])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 5 == 0:
            low, mid, high = recorder.last.tolist()
            print(f"step {step}  loss {loss.item():.4f}  hidden {low:+.2f} {mid:+.2f} {high:+.2f}  "
                  f"{time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
