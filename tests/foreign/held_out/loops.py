"""A small trainer of the kind that people write for themselves after reading about larger ones.

No program of this folder: the programs import it, as a script imports its own `engine.py`.
"""
import logging

import torch

log = logging.getLogger("loops")


class Callback:
    def on_fit_begin(self, trainer): ...

    def on_step_end(self, trainer, loss): ...

    def on_epoch_end(self, trainer, mean_loss): ...


class LogEvery(Callback):
    def __init__(self, steps):
        self.steps = steps

    def on_step_end(self, trainer, loss):
        if trainer.global_step % self.steps == 0:
            log.info("epoch %d global_step %d train_loss=%.5f", trainer.epoch, trainer.global_step, loss)


class Module(torch.nn.Module):
    """To be derived from: forward, training_step, configure_optimizer."""

    def training_step(self, batch):
        raise NotImplementedError

    def configure_optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Trainer:
    def __init__(self, max_epochs, callbacks=()):
        self.max_epochs = max_epochs
        self.callbacks = list(callbacks)
        self.global_step = 0
        self.epoch = 0

    def _call(self, hook, *values):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *values)

    def fit(self, module, data):
        if hasattr(data, "setup"):
            data.setup()
        loader = data.train_loader() if hasattr(data, "train_loader") else data
        optimizer = module.configure_optimizer()
        self._call("on_fit_begin")
        for self.epoch in range(self.max_epochs):
            self._run_epoch(module, loader, optimizer)

    def _run_epoch(self, module, loader, optimizer):
        module.train()
        total, count = 0.0, 0
        for batch in loader:
            optimizer.zero_grad()
            loss = module.training_step(batch)
            loss.backward()
            optimizer.step()
            value = float(loss.detach())
            total, count = total + value, count + 1
            self.global_step += 1
            self._call("on_step_end", value)
        self._call("on_epoch_end", total / max(count, 1))
