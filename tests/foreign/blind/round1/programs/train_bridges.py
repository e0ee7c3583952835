# python: torch
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: the loss is down at the noise of the sensors and a checkpoint of some size is written now and then, with a short pause; neither costs anything worth naming.
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn

SENSORS, HISTORY = 24, 32


def make_readings(n=12000):
    rng = np.random.default_rng(17)
    load = rng.normal(size=(n + HISTORY, 3)).cumsum(axis=0) * 0.05
    load -= load.mean(axis=0)
    mix = rng.normal(size=(3, SENSORS))
    readings = (np.sin(load) @ mix + rng.normal(0, 0.15, (n + HISTORY, SENSORS))).astype("float32")
    past = np.lib.stride_tricks.sliding_window_view(readings, HISTORY, axis=0)[:n]
    return torch.from_numpy(past.reshape(n, -1).copy()), torch.from_numpy(readings[HISTORY:HISTORY + n])


def validate(model, past, now):
    model.eval()
    with torch.no_grad():
        value = nn.functional.mse_loss(model(past), now).item()
    model.train()
    return value


def main():
    torch.manual_seed(0)
    past, now = make_readings()
    train_past, train_now, val_past, val_now = past[:11000], now[:11000], past[11000:], now[11000:]
    model = nn.Sequential(nn.Linear(SENSORS * HISTORY, 1024), nn.GELU(), nn.Dropout(0.1),
                          nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, SENSORS))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 600, eta_min=1e-5)
    folder = tempfile.mkdtemp(prefix="bridges_")
    started, total = time.time(), 0.0
    for step in range(1, 6001):
        pick = torch.randint(0, len(train_past), (256,))
        loss = nn.functional.mse_loss(model(train_past[pick]), train_now[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step <= 600:
            scheduler.step()
        total += loss.item()
        if step % 20 == 0:
            print(f"step {step}  loss {total / 20:.4f}  {time.time() - started:.1f} s", flush=True)
            total = 0.0
        if step % 200 == 0:
            print(f"validation {validate(model, val_past, val_now):.4f}", flush=True)
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step},
                       os.path.join(folder, f"bridges_{step // 200 % 3}.pt"))


if __name__ == "__main__":
    main()
