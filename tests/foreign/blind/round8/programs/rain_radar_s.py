# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: The main process only waits in join(); two children with one thread each train the shared weights (Hogwild) and use both cores.
import os
import time

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F


class Nowcast(nn.Module):
    """Four radar pictures in, the next one out."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(4, 24, 3, padding=1), nn.ReLU(),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
            nn.Conv2d(24, 1, 3, padding=1))

    def forward(self, frames):
        return frames[:, -1:] + self.net(frames)


def showers(n, seed, size=40, frames=5):
    g = torch.Generator().manual_seed(seed)
    place = torch.rand(n, 1, 2, generator=g) * size
    wind = torch.randn(n, 1, 2, generator=g)
    t = torch.arange(frames).view(1, -1, 1)
    centre = place + wind * t
    axis = torch.arange(size).float()
    dy = (axis.view(1, 1, -1, 1) - centre[..., 0].view(n, frames, 1, 1)) ** 2
    dx = (axis.view(1, 1, 1, -1) - centre[..., 1].view(n, frames, 1, 1)) ** 2
    film = torch.exp(-(dy + dx) / 30)
    return film + 0.05 * torch.randn(film.shape, generator=g)


def work(rank, model, done):
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    films = showers(600, seed=rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    began, step = time.time(), 0
    while not done.is_set():
        film = films[torch.randint(0, len(films), (12,))]
        loss = F.mse_loss(model(film[:, :4]), film[:, 4:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 40 == 0:
            print(f"[worker {rank} pid {os.getpid()}] step {step} mse {loss.item():.5f} "
                  f"{step / (time.time() - began):.1f} steps/s", flush=True)


if __name__ == "__main__":
    context = mp.get_context("spawn")
    shared = Nowcast().share_memory()
    done = context.Event()
    workers = [context.Process(target=work, args=(i, shared, done)) for i in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
