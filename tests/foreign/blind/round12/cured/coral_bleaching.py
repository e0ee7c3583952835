# python: loops
"""Segment bleached coral in small reef photographs with a little U-Net (Lightning)."""
import tempfile
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
import lightning as L

SIDE = 64


def reef(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    images = np.empty((n, 3, SIDE, SIDE), np.float32)
    masks = np.zeros((n, 1, SIDE, SIDE), np.float32)
    for i in range(n):
        base = 0.35 + 0.1 * np.sin(8 * xx + rng.uniform(0, 6)) * np.cos(7 * yy + rng.uniform(0, 6))
        for _ in range(rng.integers(2, 5)):
            cx, cy, r = rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9), rng.uniform(0.06, 0.2)
            blob = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
            if rng.random() < 0.6:
                masks[i, 0][blob] = 1.0
                base[blob] += 0.3
            else:
                base[blob] -= 0.15
        images[i] = base + rng.normal(0, 0.12, (3, SIDE, SIDE))
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(masks))


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(),
                         nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())


class ReefNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.mid = block(3, 8), block(8, 16), block(16, 32)
        self.up2, self.up1 = block(48, 16), block(24, 8)
        self.head = nn.Conv2d(8, 1, 1)
        self.outputs = []

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        b = self.up2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.up1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.head(a)

    def training_step(self, batch, batch_idx):
        images, masks = batch
        logits = self(images)
        loss = F.binary_cross_entropy_with_logits(logits, masks)
        self.outputs.append({"logits": logits.detach(), "masks": masks})
        if self.global_step % 5 == 0:
            print(f"epoch {self.current_epoch} step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def on_train_epoch_end(self):
        last = self.outputs[-8:]
        pred = torch.cat([o["logits"] for o in last]) > 0
        true = torch.cat([o["masks"] for o in last]) > 0.5
        iou = (pred & true).sum() / (pred | true).sum().clamp(min=1)
        print(f"epoch {self.current_epoch} IoU {iou.item():.3f}", flush=True)
        self.outputs.clear()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


if __name__ == "__main__":
    L.seed_everything(4)
    loader = DataLoader(reef(480, 1), batch_size=16, shuffle=True)
    trainer = L.Trainer(max_epochs=500, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False,
                        default_root_dir=tempfile.mkdtemp(prefix="reef_"))
    trainer.fit(ReefNet(), loader)
