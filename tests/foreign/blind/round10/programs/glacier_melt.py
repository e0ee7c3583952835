# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 32
# Why: noisy targets make the loss jump, gradients are accumulated, a worker process feeds, it validates and writes a
# checkpoint every 80 batches; all of that costs little and the convolutions are the work.
"""Melt-rate maps of a glacier tongue from surface temperature and albedo grids (Lightning)."""
import os
import tempfile

import lightning.pytorch as pl
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 48
FOLDER = os.path.join(tempfile.gettempdir(), "glacier_melt")


class MeltGrids(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.waves = rng.normal(size=(n, 3, 4)).astype(np.float32)
        self.n, self.seed = n, seed
        yy, xx = np.mgrid[0:1:SIZE * 1j, 0:1:SIZE * 1j].astype(np.float32)
        self.yy, self.xx = yy, xx

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng((self.seed, i))
        fields = [np.sin(6 * w[0] * self.xx + 6 * w[1] * self.yy + w[2]) + 0.3 * w[3] for w in self.waves[i]]
        x = np.stack(fields)
        melt = np.maximum(0, x[0] - 0.5 * x[1]) * (1.2 - 0.4 * x[2])
        melt = melt + 0.5 * rng.standard_normal((SIZE, SIZE), dtype=np.float32)
        if rng.random() < 0.08:      # clouds: the satellite saw something else
            melt = melt + 3.0
        return torch.from_numpy(x), torch.from_numpy(melt.astype(np.float32))[None]


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width),
        )

    def forward(self, x):
        return torch.relu(x + self.body(x))


class MeltModel(pl.LightningModule):
    def __init__(self, width=24, depth=3, lr=2e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), *[Block(width) for _ in range(depth)],
                                 nn.Conv2d(width, 1, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y), prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, self.hparams.lr, total_steps=8000, pct_start=0.02)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}


class Diary(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if batch_idx % 10 == 0:
            print(f"epoch {trainer.current_epoch} batch {batch_idx} train_loss {float(outputs['loss']):.4f}", flush=True)

    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            print(f"   val_loss {float(trainer.callback_metrics['val_loss']):.4f}", flush=True)


def main():
    pl.seed_everything(21, workers=True)
    torch.set_num_threads(2)
    train = DataLoader(MeltGrids(16_000, 1), batch_size=16, shuffle=True, num_workers=1, persistent_workers=True)
    valid = DataLoader(MeltGrids(64, 2), batch_size=32)
    trainer = pl.Trainer(
        max_epochs=16,
        accelerator="cpu",
        accumulate_grad_batches=2,
        val_check_interval=80,
        gradient_clip_val=1.0,
        logger=False,
        enable_progress_bar=False,
        default_root_dir=FOLDER,
        callbacks=[Diary(), ModelCheckpoint(FOLDER, monitor="val_loss", save_top_k=1), EarlyStopping("val_loss", patience=40)],
    )
    trainer.fit(MeltModel(), train, valid)


if __name__ == "__main__":
    main()
