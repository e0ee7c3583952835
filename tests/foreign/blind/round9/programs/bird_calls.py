# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a worker process that is idle most of the time, validation in the middle of an epoch, a checkpoint now and then and a loss
# that jumps because a sixth of the labels is wrong. The convolutions are the work and both cores do it.
"""Species from spectrogram patches, labelled by volunteers."""
import argparse
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset
import lightning.pytorch as pl
from lightning.pytorch.callbacks import ModelCheckpoint

SPECIES = 12


class Calls(Dataset):
    def __init__(self, n=9000, bands=32, frames=40, wrong=0.16):
        rng = np.random.default_rng(17)
        self.label = rng.integers(0, SPECIES, n)
        shapes = rng.normal(0, 1, (SPECIES, bands, frames)).astype(np.float32)
        kernel = np.ones(5, np.float32) / 5
        shapes = np.apply_along_axis(lambda v: np.convolve(v, kernel, "same"), 2, shapes).astype(np.float32)
        self.patch = (shapes[self.label] * 255).astype(np.int16)
        self.given = np.where(rng.random(n) < wrong, rng.integers(0, SPECIES, n), self.label)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        x = torch.from_numpy(self.patch[i]).float() / 255
        x = torch.roll(x, int(torch.randint(-6, 7, ())), dims=1) + 0.9 * torch.randn_like(x)
        return x.unsqueeze(0), int(self.given[i])


class CallNet(pl.LightningModule):
    def __init__(self, width=12, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        blocks, c = [], 1
        for out in (width, 2 * width, 4 * width):
            blocks += [nn.Conv2d(c, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                       nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(), nn.MaxPool2d(2)]
            c = out
        self.body = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, SPECIES))

    def forward(self, x):
        return self.body(x)

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        out = self(x)
        self.log("val_acc", (out.argmax(1) == y).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-2)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=30)]


class Report(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if trainer.global_step % 5 == 0:
            print(f"step {trainer.global_step}: loss {float(outputs['loss']):.4f}", flush=True)

    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            print(f"--- validation: accuracy {float(trainer.callback_metrics['val_acc']):.3f}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch-size", type=int, default=24)
    p.add_argument("--epochs", type=int, default=30)
    args = p.parse_args()
    pl.seed_everything(1, workers=True)
    data = Calls()
    train, val = Subset(data, range(0, 8700)), Subset(data, range(8700, 9000))
    with tempfile.TemporaryDirectory() as folder:
        keep = ModelCheckpoint(folder, every_n_train_steps=80, save_top_k=1, monitor=None)
        trainer = pl.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, enable_progress_bar=False,
                             val_check_interval=120, num_sanity_val_steps=0, callbacks=[keep, Report()])
        trainer.fit(CallNet(), DataLoader(train, args.batch_size, shuffle=True, num_workers=1, persistent_workers=True),
                    DataLoader(val, 100))


if __name__ == "__main__":
    main()
