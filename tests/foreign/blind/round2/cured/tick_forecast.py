# python: torch
# expected: host-memory-leak [also accepted: step-time-grows]
# verdict: slow|healthy
# seconds: 40
# where: history.append / torch.stack
# Why: the loss tensors are kept in a list with their graphs, so the activations of every eighth step stay alive for ever; somebody wanted a smooth curve and forgot .item().
import numpy as np
import torch
from torch import nn

WINDOW, FEATURES, HIDDEN, BATCH = 40, 8, 48, 24
torch.manual_seed(9)
rng = np.random.default_rng(9)


def make_ticks(n=60000):
    shock = rng.normal(size=(n, FEATURES)).astype(np.float32)
    x = np.zeros_like(shock)
    for t in range(1, n):
        x[t] = 0.95 * x[t - 1] + 0.3 * shock[t]
    return torch.from_numpy(x)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(FEATURES, HIDDEN, batch_first=True)
        self.out = nn.Sequential(nn.Linear(HIDDEN, 32), nn.Tanh(), nn.Linear(32, FEATURES))

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h)


def batches(x):
    while True:
        at = torch.randint(0, len(x) - WINDOW - 1, (BATCH, 1))
        rows = x[at + torch.arange(WINDOW + 1)]
        yield rows[:, :-1], rows[:, 1:]


def main():
    ticks = make_ticks()
    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, 500, 0.9)
    history = []
    for step, (past, future) in enumerate(batches(ticks), 1):
        pred = model(past)
        loss = nn.functional.mse_loss(pred, future)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if step % 8 == 0:
            history.append(nn.functional.l1_loss(model(past)[:, -1], future[:, -1]).detach())
        if step % 25 == 0:
            smooth = torch.stack(history[-20:]).mean()
            print(f"step {step} mse {loss.item():.5f} last-step mae {smooth.item():.5f}", flush=True)
        if step == 20000:
            break


if __name__ == "__main__":
    main()
