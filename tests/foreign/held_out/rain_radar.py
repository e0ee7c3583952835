# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OMP_NUM_THREADS=2
# Why: one Python generator on one thread fills a queue of four and waits for room most of the time, because a batch
# takes it about a millisecond and the model tens of them. The thread that sleeps on a lock is the one that is ahead.
import contextlib
import logging
import queue
import threading

import numpy as np
import torch
from torch import nn

import loops

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(threadName)s] %(message)s")


def windows(frames, length, batch, seed=None):
    rng = np.random.default_rng(seed)
    while True:
        starts = rng.integers(0, len(frames) - length - 1, batch)
        block = np.stack([frames[s:s + length + 1] for s in starts])
        yield block[:, :-1], block[:, -1]


class Ahead:
    """Runs a generator on a thread of its own, at most `depth` batches ahead."""

    def __init__(self, generator, steps, depth=4):
        self.generator, self.steps = generator, steps
        self.slots = queue.Queue(maxsize=depth)
        threading.Thread(target=self._produce, name="producer", daemon=True).start()

    def _produce(self):
        for past, future in self.generator:
            self.slots.put((torch.from_numpy(past), torch.from_numpy(future)))

    def __iter__(self):
        for _ in range(self.steps):
            yield self.slots.get()


class Nowcast(loops.Module):
    def __init__(self, length, pixels, hidden=768):
        super().__init__()
        self.encode = nn.Sequential(nn.Flatten(), nn.Linear(length * pixels, hidden), nn.GELU())
        self.image = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, pixels))

    def training_step(self, batch):
        past, future = batch
        return nn.functional.mse_loss(self.image(self.encode(past)), future)

    def configure_optimizer(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


class Summary(loops.Callback):
    def on_epoch_end(self, trainer, mean_loss):
        logging.info("epoch %d done, mean %.5f", trainer.epoch, mean_loss)


if __name__ == "__main__":
    frames = np.random.default_rng(4).random((5000, 20 * 20), dtype=np.float32)
    data = Ahead(windows(frames, length=24, batch=64), steps=40)
    with contextlib.suppress(KeyboardInterrupt):
        loops.Trainer(500, [loops.LogEvery(8), Summary()]).fit(Nowcast(24, 400), data)
