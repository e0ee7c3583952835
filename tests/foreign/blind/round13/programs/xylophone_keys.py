# python: loops
# expected: step-time-grows
# verdict: slow
# seconds: 30
# where: register_forward_hook
# Why: forward hooks that note the activations are registered for every batch and never removed, so that the n-th
# step calls each of them n times and is slower than the one before. Registered once, a step always takes the same.
"""Which bar of a xylophone was struck? A one-dimensional convolutional network with Lightning."""
import argparse
import time

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BARS = 12
RATE = 8000
LENGTH = 1600


def strike(rng, bar):
    t = np.arange(LENGTH) / RATE
    base = 523.25 * 2 ** (bar / 12) * (1 + rng.normal(0, 0.004))
    sound = np.zeros(LENGTH)
    for ratio, strength, decay in ((1.0, 1.0, 9.0), (3.0, 0.5, 18.0), (6.1, 0.2, 35.0)):
        sound += strength * rng.uniform(0.6, 1.2) * np.sin(2 * np.pi * base * ratio * t + rng.uniform(0, 6)) * np.exp(
            -decay * t
        )
    return sound + rng.normal(0, 0.6, LENGTH)


def recordings(count, seed):
    rng = np.random.default_rng(seed)
    bars = rng.integers(0, BARS, count)
    sounds = np.stack([strike(rng, bar) for bar in bars]).astype(np.float32)
    return TensorDataset(torch.from_numpy(sounds)[:, None], torch.from_numpy(bars))


class KeyNet(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.features = nn.Sequential(
            nn.Conv1d(1, 32, 33, stride=2, padding=16),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.Conv1d(32, 48, 17, stride=2, padding=8),
            nn.BatchNorm1d(48),
            nn.ReLU(),
            nn.Conv1d(48, 64, 9, stride=2, padding=4),
            nn.BatchNorm1d(64),
            nn.ReLU(),
        )
        self.head = nn.Linear(64, BARS)

    def forward(self, x):
        return self.head(self.features(x).square().mean(-1))

    def training_step(self, batch, batch_idx):
        sounds, bars = batch
        return nn.functional.cross_entropy(self(sounds), bars)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


class ActivationLog(L.Callback):
    """Notes how large the activations of the convolutions are and how many of them are silent."""

    def __init__(self, every):
        self.every = every
        self.notes = {}

    def note(self, layer, inputs, output):
        output = output.detach()[:16]
        self.notes[layer] = (output.std().item(), (output <= 0).float().mean().item())

    def on_fit_start(self, trainer, module):
        self.began = time.time()

    def on_train_batch_start(self, trainer, module, batch, batch_idx):
        for layer in module.features:
            if isinstance(layer, nn.Conv1d):
                layer.register_forward_hook(self.note)

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if trainer.global_step % self.every == 0:
            text = "  ".join(f"{std:.2f}/{silent:.0%}" for std, silent in self.notes.values())
            loss, took = outputs["loss"].item(), time.time() - self.began
            print(f"step {trainer.global_step:5d} loss {loss:.4f} activations {text} {took:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=60)
    args = parser.parse_args()
    L.seed_everything(1)
    loader = DataLoader(recordings(8000, 5), batch_size=args.batch, shuffle=True, drop_last=True)
    trainer = L.Trainer(
        max_epochs=args.epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        callbacks=[ActivationLog(every=10)],
    )
    trainer.fit(KeyNet(args.lr), loader)


if __name__ == "__main__":
    main()
