# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: The main process only starts one training after another and waits for it; the child makes steady progress.
import itertools
import logging
import multiprocessing as mp
import os
import tempfile

import numpy as np

GRID = {"lr": [1e-3, 3e-4], "width": [256, 384]}


def probes(n=24000, bands=40):
    rng = np.random.default_rng(50)
    soil = rng.normal(0, 1, (n, 10))
    spectra = np.tanh(soil @ rng.normal(0, 0.6, (10, bands))) + rng.normal(0, 0.02, (n, bands))
    moisture = 0.25 + 0.1 * np.sin(2 * soil[:, 0] * soil[:, 1]) + 0.05 * soil[:, 2] * np.cos(3 * soil[:, 3]) + 0.05 * np.sin(3 * soil[:, 4])
    return spectra.astype(np.float32), moisture.astype(np.float32)


def train(run, settings, folder):
    import torch
    from torch import nn

    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s run{run} %(message)s")
    torch.manual_seed(run)
    x, y = (torch.from_numpy(a) for a in probes())
    w = settings["width"]
    model = nn.Sequential(nn.Linear(x.shape[1], w), nn.SiLU(), nn.Linear(w, w), nn.SiLU(), nn.Linear(w, w), nn.SiLU(), nn.Linear(w, 1))
    opt = torch.optim.AdamW(model.parameters(), lr=settings["lr"])
    for epoch in range(60):
        model.train()
        total = 0.0
        order = torch.randperm(len(x))
        for i, idx in enumerate(order.split(256)):
            loss = nn.functional.mse_loss(model(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            if i % 30 == 29:
                logging.info("epoch %d batch %d rmse %.4f", epoch, i + 1, (total / (i + 1)) ** 0.5)
        torch.save(model.state_dict(), os.path.join(folder, f"run{run}.pt"))


def sweep():
    ctx = mp.get_context("spawn")
    folder = tempfile.mkdtemp()
    for run, values in enumerate(itertools.product(*GRID.values())):
        settings = dict(zip(GRID, values))
        print("starting run", run, settings, flush=True)
        child = ctx.Process(target=train, args=(run, settings, folder))
        child.start()
        child.join()
        print("run", run, "ended with", child.exitcode, flush=True)


if __name__ == "__main__":
    sweep()
