# python: loops
# expected: weights-not-updated [also accepted: gradient-not-connected, loss-frozen]
# verdict: slow
# seconds: 30
# where: self.net = build_net
# Why: on_train_start builds the network anew (for the bias of the last layer) after configure_optimizers has handed the
# parameters of the old one to the optimizer: the network that is trained on is never moved, the loss stays where it began.
"""Predict fruit yield per tree from weather, soil and pruning records."""
from argparse import ArgumentParser

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def build_net(n_features, width, bias=0.0):
    net = nn.Sequential(
        nn.Linear(n_features, width), nn.SiLU(),
        nn.Linear(width, width), nn.SiLU(),
        nn.Linear(width, width), nn.SiLU(),
        nn.Linear(width, 1),
    )
    nn.init.constant_(net[-1].bias, bias)
    return net


class OrchardData(pl.LightningDataModule):
    def __init__(self, trees=120_000, n_features=40, batch_size=256):
        super().__init__()
        self.trees, self.n_features, self.batch_size = trees, n_features, batch_size

    def setup(self, stage=None):
        if hasattr(self, "train"):
            return
        g = torch.Generator().manual_seed(5)
        x = torch.randn(self.trees, self.n_features, generator=g)
        w = torch.randn(self.n_features, 6, generator=g) / self.n_features ** 0.5
        h = x @ w
        y = 2.0 * torch.tanh(h[:, 0] * 2) + h[:, 1] * h[:, 2] + 1.5 * torch.sin(2 * h[:, 3]) + h[:, 4].abs()
        y = 12 + 3 * y + 0.3 * torch.randn(self.trees, generator=g)
        full = TensorDataset(x, y)
        self.train, self.valid = random_split(full, [self.trees - 8000, 8000], generator=g)
        self.mean_yield = y[self.train.indices].mean().item()

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True, drop_last=True)

    def val_dataloader(self):
        return DataLoader(self.valid, batch_size=2000)


class YieldModel(pl.LightningModule):
    def __init__(self, n_features=40, width=256, lr=1e-3, weight_decay=1e-4):
        super().__init__()
        self.save_hyperparameters()
        self.net = build_net(n_features, width)

    def on_train_start(self):
        # start from the average tree instead of from zero
        hp = self.hparams
        self.net = build_net(hp.n_features, hp.width, bias=self.trainer.datamodule.mean_yield)

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.log("train_mse", loss)
        if self.global_step % 10 == 0:
            print(f"step {self.global_step:6d}  train_mse {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_mse", F.mse_loss(self(x), y))

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            print(f"epoch {self.current_epoch}  val_mse {float(self.trainer.callback_metrics['val_mse']):.4f}", flush=True)

    def configure_optimizers(self):
        hp = self.hparams
        return torch.optim.AdamW(self.parameters(), lr=hp.lr, weight_decay=hp.weight_decay)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--width", type=int, default=256)
    args = parser.parse_args()

    pl.seed_everything(3)
    trainer = pl.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, gradient_clip_val=1.0)
    trainer.fit(YieldModel(width=args.width), datamodule=OrchardData())
