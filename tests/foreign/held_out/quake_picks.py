# python: torch
# expected: healthy
# verdict: healthy|finished
# seconds: 55
# env: OMP_NUM_THREADS=2
# Why: ten seconds and more of filtering, trace by trace, with a line about how far it is, and then the training, which
# goes on for longer than that. Slow to start, and never stuck.
import logging
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
CACHE = os.path.join(tempfile.gettempdir(), f"quake-picks-{os.getpid()}.npy")


def bandpass(trace, low=0.02, high=0.2):
    spectrum = np.fft.rfft(trace)
    frequency = np.fft.rfftfreq(len(trace))
    spectrum[(frequency < low) | (frequency > high)] = 0
    return np.fft.irfft(spectrum, len(trace))


def sta_lta(trace, short=50, long=1000):
    energy = np.cumsum(trace ** 2)
    s = energy[short:] - energy[:-short]
    l = energy[long:] - energy[:-long]
    return s[-len(l):] / (l + 1e-9)


def prepare(traces, samples=24_000, window=256):
    rng = np.random.default_rng(9)
    picked = np.empty((traces, window), np.float32)
    begun = time.monotonic()
    for i in range(traces):
        ratio = sta_lta(bandpass(rng.standard_normal(samples)))
        at = np.clip(ratio.argmax(), window // 2, len(ratio) - window // 2)
        picked[i] = ratio[at - window // 2:at + window // 2]
        if (i + 1) % 250 == 0:
            logging.info("prepared %d of %d traces (%.0f/s)", i + 1, traces, (i + 1) / (time.monotonic() - begun))
    np.save(CACHE, picked)
    return CACHE


class Picker(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 16, 7, padding=3), nn.ReLU(),
                                      nn.Conv1d(16, 16, 7, padding=3), nn.ReLU())
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(self.features(x[:, None]).mean(-1)).squeeze(1)


def fit(path, epochs=400, batch=64):
    x = torch.from_numpy(np.load(path))
    x = (x - x.mean()) / x.std()
    y = (x.max(1).values > x.max(1).values.median()).float()
    net, loss_fn = Picker(), nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(1, epochs + 1):
        losses = []
        for rows in torch.randperm(len(x)).split(batch):
            loss = loss_fn(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if len(losses) % 25 == 0:
                logging.info("epoch %d/%d step %d loss %.5f", epoch, epochs, len(losses), losses[-1])
        logging.info("epoch %d/%d mean loss %.5f", epoch, epochs, sum(losses) / len(losses))


if __name__ == "__main__":
    try:
        fit(prepare(traces=6000))
    finally:
        if os.path.exists(CACHE):
            os.remove(CACHE)
