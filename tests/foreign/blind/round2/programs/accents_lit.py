# python: loops
# expected: healthy
# verdict: healthy
# env: OMP_WAIT_POLICY=passive
# seconds: 40
# Why: looks suspicious because nearly all weights never change and their gradients are missing; the encoder is frozen on purpose and only the small head learns.
import logging
import warnings
import numpy as np
import torch
from torch import nn
import lightning.pytorch as pl
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
FRAMES, BANDS, ACCENTS = 100, 40, 6


def make_speech(n=3000):
    rng = np.random.default_rng(70)
    y = rng.integers(0, ACCENTS, n)
    t = np.arange(FRAMES)[None, :, None] / 10
    band = np.arange(BANDS)[None, None, :] / 6
    x = np.sin(t * (1 + 0.15 * y[:, None, None]) + band) + 0.5 * rng.normal(size=(n, FRAMES, BANDS))
    return TensorDataset(torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y))


class Encoder(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(BANDS, width, 5, stride=2), nn.GELU(),
            nn.Conv1d(width, width, 5, stride=2), nn.GELU(),
            nn.Conv1d(width, width, 3), nn.GELU())
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, x):
        h, _ = self.rnn(self.conv(x.transpose(1, 2)).transpose(1, 2))
        return torch.cat([h.mean(1), h.std(1)], 1)


class AccentHead(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder().requires_grad_(False).eval()
        self.head = nn.Sequential(nn.LayerNorm(384), nn.Linear(384, 64), nn.ReLU(), nn.Linear(64, ACCENTS))
        self.mean = 0.0

    def training_step(self, batch, _):
        x, y = batch
        with torch.no_grad():
            z = self.encoder(x)
        loss = nn.functional.cross_entropy(self.head(z), y)
        self.mean = 0.95 * self.mean + 0.05 * loss.item() if self.global_step else loss.item()
        if self.global_step % 25 == 0:
            print(f"step {self.global_step} loss {self.mean:.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.head.parameters(), lr=5e-4)


def main():
    pl.seed_everything(70)
    trainer = pl.Trainer(accelerator="cpu", max_epochs=100, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(AccentHead(), DataLoader(make_speech(), batch_size=32, shuffle=True))


if __name__ == "__main__":
    main()
