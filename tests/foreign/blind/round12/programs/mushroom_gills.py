# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: noisy losses (small batches, wrong labels), validation and a checkpoint every few epochs and no loader workers, but the
# images lie ready in memory and the convolutions are the work.
"""Attached, free or running down the stem? A CNN for pictures of mushroom gills (Lightning)."""
import tempfile
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
import lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint

SIDE, KINDS = 48, 4


def gills(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE - 0.5
    labels = rng.integers(0, KINDS, n)
    images = np.empty((n, 3, SIDE, SIDE), np.float32)
    for i, k in enumerate(labels):
        turn = rng.uniform(0, 2 * np.pi)
        angle = np.arctan2(yy, xx) + turn
        radius = np.hypot(xx, yy)
        lines = np.sin(angle * (12 + 5 * k) + 4 * k * radius)
        images[i] = (lines * (radius > 0.08) * 0.7 + rng.normal(0, 0.5, (3, SIDE, SIDE)))
    wrong = rng.random(n) < 0.08
    labels[wrong] = rng.integers(0, KINDS, wrong.sum())
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))


def conv(a, b, stride=1):
    return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class GillNet(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(conv(3, 24), conv(24, 32, 2), conv(32, 48), conv(48, 64, 2), conv(64, 64),
                                 nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, KINDS))
        self.losses = []

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        if torch.rand(()) < 0.5:
            x = x.flip(-1)
        loss = F.cross_entropy(self(x), y)
        self.losses.append(loss.item())
        self.log("train_loss", loss)
        print(f"epoch {self.current_epoch} step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            m = self.trainer.callback_metrics
            print(f"--- validation loss {m['val_loss']:.4f} accuracy {m['val_acc']:.3f}", flush=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-3)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 300)]


def main():
    L.seed_everything(21)
    folder = tempfile.mkdtemp(prefix="gills_")
    train = DataLoader(gills(960, 1), batch_size=16, shuffle=True)
    val = DataLoader(gills(160, 2), batch_size=80)
    keep = ModelCheckpoint(dirpath=folder, monitor="val_loss", save_top_k=1)
    trainer = L.Trainer(max_epochs=300, accelerator="cpu", logger=False, callbacks=[keep], check_val_every_n_epoch=3,
                        enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
    trainer.fit(GillNet(), train, val)
    print("best", keep.best_model_path)


if __name__ == "__main__":
    main()
