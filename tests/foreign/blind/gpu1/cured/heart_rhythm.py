# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 30
"""Five heart rhythms from four-lead recordings, with a running average of the weights for evaluation."""
import copy
import math

import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

RHYTHMS, LEADS, SAMPLES, WIDTH, BATCH = 5, 4, 1000, 256, 256


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.GroupNorm(8, width), nn.GELU(), nn.Conv1d(width, width, 7, padding=3),
                                    nn.GroupNorm(8, width), nn.GELU(), nn.Conv1d(width, width, 7, padding=3))

    def forward(self, x):
        return x + self.layers(x)


def build_net():
    return nn.Sequential(nn.Conv1d(LEADS, WIDTH, 15, stride=2, padding=7), *(Residual(WIDTH) for _ in range(6)),
                         nn.GroupNorm(8, WIDTH), nn.GELU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(WIDTH, RHYTHMS))


class RhythmModel(pl.LightningModule):
    def __init__(self, decay=0.99):
        super().__init__()
        self.decay = decay
        self.net = build_net()
        self.average = copy.deepcopy(self.net).requires_grad_(False)

    def training_step(self, batch, batch_idx):
        signals, rhythms = batch
        return F.cross_entropy(self.net(signals).float(), rhythms)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        with torch.no_grad():
            for mean, weight in zip(self.average.parameters(), self.net.parameters()):
                mean.lerp_(weight, 1 - self.decay)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.net.parameters(), lr=1e-3)


class Report(Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step % 5 == 0:
            print(f"step {trainer.global_step} loss {float(outputs['loss']):.4f}", flush=True)


def draw_recordings(count):
    rhythms = torch.randint(RHYTHMS, (count,))
    rate = torch.tensor([0.9, 1.4, 2.0, 2.8, 3.8])[rhythms] * (1 + 0.05 * torch.randn(count))
    time = torch.linspace(0, 10, SAMPLES)
    phase = 2 * math.pi * (rate[:, None] * time + torch.rand(count, 1))
    beat = torch.exp(8 * (torch.cos(phase) - 1))
    leads = beat[:, None] * (0.5 + torch.rand(count, LEADS, 1))
    return leads + 0.2 * torch.randn(count, LEADS, SAMPLES), rhythms


def main():
    pl.seed_everything(5)
    recordings = TensorDataset(*draw_recordings(4096))
    sampler = BatchSampler(RandomSampler(recordings), batch_size=BATCH, drop_last=True)
    loader = DataLoader(recordings, sampler=sampler, batch_size=None)
    trainer = pl.Trainer(max_epochs=10_000, precision="bf16-mixed", logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False, callbacks=[Report()])
    trainer.fit(RhythmModel(), loader)


if __name__ == "__main__":
    main()
