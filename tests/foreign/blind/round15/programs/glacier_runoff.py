# python: loops
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# where: self.epoch_outputs.append
# Why: every batch's states and errors are kept for the summary at the epoch's end, and the list is never emptied
# Why: (what the older hooks did by themselves): memory grows with every step.
"""Runoff of a glacier six hours ahead, from the weather and the level of two days."""
import lightning.pytorch as pl
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HOURS, AHEAD = 36, 6


def gauges(count, seed):
    rng = np.random.default_rng(seed)
    length = HOURS + AHEAD
    sun = np.maximum(0, np.sin(np.arange(length) * 2 * np.pi / 24 + rng.uniform(0, 6.28, (count, 1))))
    rain = rng.gamma(0.3, 2.0, (count, length))
    level = np.zeros((count, length))
    level[:, 0] = rng.uniform(0, 4, count)
    for hour in range(1, length):
        level[:, hour] = 0.9 * level[:, hour - 1] + 0.2 * rain[:, hour - 1] + 0.3 * sun[:, hour - 1]
    level += rng.normal(0, 0.05, level.shape)
    past = np.stack([sun, rain, level], -1)[:, :HOURS].astype(np.float32)
    return torch.from_numpy(past), torch.from_numpy(level[:, HOURS:].astype(np.float32))


class Runoff(pl.LightningModule):
    def __init__(self, hidden=32):
        super().__init__()
        self.encoder = nn.GRU(3, hidden, num_layers=2, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 64), nn.GELU(), nn.Linear(64, AHEAD))
        self.epoch_outputs = []

    def forward(self, past):
        states, _ = self.encoder(past)
        return self.head(states[:, -1]), states

    def training_step(self, batch, batch_idx):
        past, ahead = batch
        forecast, states = self(past)
        loss = nn.functional.smooth_l1_loss(forecast, ahead)
        self.epoch_outputs.append({"states": states[:, -12:].detach().clone(), "error": (forecast - ahead).detach()})
        if self.global_step % 20 == 0:
            print(f"epoch {self.current_epoch} step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def on_train_epoch_end(self):
        batches = self.epoch_outputs[-self.trainer.num_training_batches:]
        with torch.no_grad():
            error = torch.cat([each["error"] for each in batches]).abs().mean(0)
            spread = torch.cat([each["states"][:, -1] for each in batches]).std(0).mean()
        hours = " ".join(f"{value:.3f}" for value in error.tolist())
        print(f"epoch {self.current_epoch} error by hour {hours} spread {spread:.3f}", flush=True)

    def validation_step(self, batch, batch_idx):
        past, ahead = batch
        forecast, _ = self(past)
        self.log("val_mae", (forecast - ahead).abs().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3, weight_decay=1e-4)


def main():
    pl.seed_everything(11)
    train = TensorDataset(*gauges(4800, 1))
    held = TensorDataset(*gauges(640, 2))
    trainer = pl.Trainer(max_epochs=2000, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(Runoff(), DataLoader(train, batch_size=64, shuffle=True), DataLoader(held, batch_size=320))


if __name__ == "__main__":
    main()
