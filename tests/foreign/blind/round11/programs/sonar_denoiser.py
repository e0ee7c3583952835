# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: Lightning warns of num_workers=0, validates and writes a checkpoint every few seconds and the loss is noisy; but the batches are
# slices of tensors in memory, and validation and checkpoint take a few per cent: the convolutions are the work.
"""Removes speckle from side-scan sonar strips."""
import tempfile

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

import lightning.pytorch as pl
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger


def seabed(count, size=40):
    coarse = torch.randn(count, 1, 5, 5)
    return torch.sigmoid(2 * F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=False))


class Sonar(pl.LightningDataModule):
    def __init__(self, batch_size=32):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage):
        whole = TensorDataset(seabed(2400))
        self.train, self.val = random_split(whole, [2304, 96], generator=torch.Generator().manual_seed(0))

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=self.batch_size)


class Denoiser(pl.LightningModule):
    def __init__(self, width=32, depth=5, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        layers = [nn.Conv2d(1, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, x):
        return x - self.net(x)

    def shared(self, batch):
        (clean,) = batch
        strength = 0.05 + 0.6 * torch.rand(len(clean), 1, 1, 1)
        noisy = clean * (1 + strength * torch.randn_like(clean))
        return F.mse_loss(self(noisy), clean)

    def training_step(self, batch, batch_idx):
        loss = self.shared(batch)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.shared(batch), prog_bar=True)

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"\nepoch {self.current_epoch} step {self.global_step} "
              f"train {float(m.get('train_loss', float('nan'))):.5f} val {float(m['val_loss']):.5f}", flush=True)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 60)]


def main():
    pl.seed_everything(40)
    folder = tempfile.mkdtemp(prefix="sonar_")
    trainer = pl.Trainer(
        max_epochs=120, accelerator="cpu", logger=CSVLogger(folder), log_every_n_steps=10, num_sanity_val_steps=0,
        callbacks=[ModelCheckpoint(folder, monitor="val_loss", save_top_k=2, save_last=True), LearningRateMonitor("epoch")],
    )
    trainer.fit(Denoiser(), datamodule=Sonar())


if __name__ == "__main__":
    main()
