# python: torch
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# Why: many threads and processes (two loader workers, a checkpoint thread, a log thread that sleeps on its queue) and a checkpoint every few
# seconds; none of them holds the training up.
import copy
import logging
import logging.handlers
import os
import queue
import sys
import tempfile
import threading
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

records = queue.Queue()
out = logging.StreamHandler(sys.stdout)
out.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
listener = logging.handlers.QueueListener(records, out)
log = logging.getLogger("denoise")
log.setLevel(logging.INFO)
log.addHandler(logging.handlers.QueueHandler(records))


class Signals(Dataset):
    def __len__(self):
        return 200000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        t = np.linspace(0, 1, 512, dtype="float32")
        clean = np.sin(2 * np.pi * rng.uniform(2, 20) * t + rng.uniform(0, 6)).astype("float32")
        noisy = clean + 0.4 * rng.standard_normal(512).astype("float32")
        return noisy[None], clean[None]


class Denoiser(nn.Module):
    def __init__(self, width=48, depth=5):
        super().__init__()
        layers = [nn.Conv1d(1, width, 9, padding=4), nn.ReLU()]
        for _ in range(depth):
            layers += [nn.Conv1d(width, width, 9, padding=4), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Conv1d(width, 1, 9, padding=4))

    def forward(self, x):
        return x - self.net(x)


def writer(jobs, folder):
    while True:
        step, state = jobs.get()
        tmp = os.path.join(folder, "last.tmp")
        torch.save({"step": step, "model": state}, tmp)
        os.replace(tmp, os.path.join(folder, "last.pt"))
        log.info("saved step %d", step)


def main():
    torch.set_num_threads(os.cpu_count())
    listener.start()
    jobs = queue.Queue(maxsize=2)
    threading.Thread(target=writer, args=(jobs, tempfile.mkdtemp()), daemon=True).start()
    loader = DataLoader(Signals(), batch_size=32, num_workers=2, prefetch_factor=4)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, (noisy, clean) in enumerate(loader, 1):
        loss = nn.functional.mse_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            log.info("step %d loss %.5f", step, loss.item())
        if step % 60 == 0:
            jobs.put((step, copy.deepcopy(model.state_dict())))


if __name__ == "__main__":
    main()
