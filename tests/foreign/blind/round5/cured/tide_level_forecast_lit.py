# python: loops
# expected: slow-callback [also accepted: hot-line]
# verdict: slow
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# where: np.histogram
# Why: A Lightning callback makes a histogram of every weight and gradient after every batch; that takes several times as long as the step itself.
import json
import os
import tempfile
import warnings

import lightning.pytorch as pl
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


def tide_windows(n=20000, past=96, ahead=24, seed=1):
    rng = np.random.default_rng(seed)
    t = np.arange(n + past + ahead, dtype=np.float32)
    level = np.sin(2 * np.pi * t / 12.42) + 0.45 * np.sin(2 * np.pi * t / 12.0 + 1) + 0.2 * np.sin(2 * np.pi * t / 23.93)
    level += 0.1 * np.cumsum(rng.normal(0, 0.05, t.size)).astype(np.float32) + rng.normal(0, 0.05, t.size)
    win = np.lib.stride_tricks.sliding_window_view(level.astype(np.float32), past + ahead)[:n]
    win = win - win[:, :past].mean(1, keepdims=True)
    return torch.tensor(win[:, :past]), torch.tensor(win[:, past:])


class TideNet(pl.LightningModule):
    def __init__(self, past=96, ahead=24, width=512):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(past, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                                  nn.Linear(width, width), nn.GELU())
        self.out = nn.Linear(width, ahead)

    def forward(self, x):
        return self.out(self.body(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.smooth_l1_loss(self(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=4e-4)


class ParameterJournal(pl.Callback):
    """Keeps the distributions for the dashboard."""

    def __init__(self, path, bins=64):
        self.path, self.bins = path, bins

    def on_train_start(self, trainer, module):
        self.out = open(self.path, "w")

    def on_before_optimizer_step(self, trainer, module, optimizer):
        if (trainer.global_step + 1) % 200:
            return
        self.grads = {n: p.grad.detach().clone() for n, p in module.named_parameters() if p.grad is not None}

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if trainer.global_step % 200:
            return
        record = {"step": trainer.global_step}
        for name, p in module.named_parameters():
            for kind, value in (("weight", p.detach()), ("grad", self.grads[name])):
                counts, edges = np.histogram(value.numpy(), bins=self.bins)
                record[f"{name}/{kind}"] = {"counts": counts.tolist(), "edges": edges.tolist()}
        self.out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    pl.seed_everything(7)
    x, y = tide_windows()
    loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
    folder = tempfile.mkdtemp()
    trainer = pl.Trainer(max_epochs=400, accelerator="cpu", logger=False, enable_checkpointing=False,
                         callbacks=[ParameterJournal(os.path.join(folder, "parameters.jsonl"))])
    trainer.fit(TideNet(), loader)
