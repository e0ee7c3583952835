# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: Lightning complains about too few workers, but the data lie in memory and a batch costs nothing; the loss is noisy,
# gradients are accumulated, there is a short validation and a checkpoint now and then.
"""Fineness of wool from micrographs: the diameter of the fibres in a picture, in micrometres."""
import tempfile

import lightning.pytorch as pl
import numpy as np
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SIZE = 48


def micrographs(count, seed):
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    width = random.uniform(1.0, 4.5, count)
    pictures = np.zeros((count, SIZE, SIZE), np.float32)
    for _ in range(5):
        angle = random.uniform(0, np.pi, count)[:, None, None]
        offset = random.uniform(-SIZE / 2, SIZE / 2, count)[:, None, None]
        distance = (rows - SIZE / 2) * np.cos(angle) + (columns - SIZE / 2) * np.sin(angle) - offset
        pictures = np.maximum(pictures, np.exp(-((distance / width[:, None, None]) ** 2)).astype(np.float32))
    pictures += random.normal(0, 0.25, pictures.shape).astype(np.float32)
    target = (width - width.mean()) / width.std() + random.standard_t(3, count) * 0.15
    return TensorDataset(torch.from_numpy(pictures[:, None]), torch.from_numpy(target.astype(np.float32)))


class FibreWidth(pl.LightningModule):
    def __init__(self):
        super().__init__()
        layers, inside = [], 1
        for channels in (16, 32, 48):
            layers += [nn.Conv2d(inside, channels, 3, padding=1), nn.GroupNorm(8, channels), nn.SiLU(), nn.AvgPool2d(2)]
            inside = channels
        self.net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(48 * (SIZE // 8) ** 2, 64), nn.SiLU(), nn.Linear(64, 1))

    def training_step(self, batch, index):
        pictures, width = batch
        loss = F.huber_loss(self.net(pictures)[:, 0], width)
        if index % 2 == 0:
            print(f"epoch {self.current_epoch} batch {index} loss {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, _):
        pictures, width = batch
        self.log("held_out", F.l1_loss(self.net(pictures)[:, 0], width))

    def on_validation_epoch_end(self):
        print("   held out, mean error:", round(float(self.trainer.callback_metrics.get("held_out", float("nan"))), 4))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1.5e-3, weight_decay=1e-3)
        rise = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=20)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": rise, "interval": "step"}}


def main():
    pl.seed_everything(8)
    train = DataLoader(micrographs(4000, 1), batch_size=32, shuffle=True)
    held_out = DataLoader(micrographs(256, 2), batch_size=64)
    with tempfile.TemporaryDirectory() as folder:
        keep = ModelCheckpoint(dirpath=folder, monitor="held_out", save_top_k=1)
        trainer = pl.Trainer(max_epochs=2000, accelerator="cpu", logger=False, callbacks=[keep], accumulate_grad_batches=2,
                             val_check_interval=100, gradient_clip_val=1.0, enable_progress_bar=False, default_root_dir=folder)
        trainer.fit(FibreWidth(), train, held_out)


if __name__ == "__main__":
    main()
