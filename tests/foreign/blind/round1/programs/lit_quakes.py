# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: gradients are accumulated over eight batches, the bar is off and a line comes only now and then; it computes without a pause.
import logging
import time
import warnings

import numpy as np
import torch
import lightning as L
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
LENGTH = 384


def make_quakes(n=1536):
    rng = np.random.default_rng(47)
    size = rng.uniform(0.2, 2.0, n).astype("float32")
    t = np.arange(LENGTH)
    onset = rng.integers(50, 300, n)
    after = np.clip(t[None] - onset[:, None], 0, None)
    wave = size[:, None] * np.sin(after / 5) * np.exp(-after / 80)
    waves = np.stack([wave, 0.6 * wave, 0.3 * wave], axis=1) + rng.normal(0, 0.15, (n, 3, LENGTH))
    return TensorDataset(torch.from_numpy(waves.astype("float32")), torch.from_numpy(size[:, None]))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 9, padding=4)
        self.norm = nn.GroupNorm(8, width)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class Magnitude(L.LightningModule):
    def __init__(self, width=32, blocks=3):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(3, width, 9, stride=2, padding=4),
                                 *[Block(width) for _ in range(blocks)],
                                 nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(width, 1))
        self.started, self.last = time.time(), -1

    def training_step(self, batch, index):
        loss = nn.functional.huber_loss(self.net(batch[0]), batch[1])
        if self.global_step != self.last:
            self.last = self.global_step
            print(f"update {self.global_step}  loss {loss.item():.4f}  {time.time() - self.started:.1f} s", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    L.seed_everything(5)
    loader = DataLoader(make_quakes(), batch_size=32, shuffle=True)
    trainer = L.Trainer(max_epochs=100, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False,
                        accumulate_grad_batches=8, gradient_clip_val=1.0)
    trainer.fit(Magnitude(), loader)


if __name__ == "__main__":
    main()
