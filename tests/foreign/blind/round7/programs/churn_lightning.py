# python: loops
# expected: slow-callback
# verdict: slow|healthy
# seconds: 30
# where: ModelCheckpoint / every_n_train_steps=1
# Why: ModelCheckpoint with every_n_train_steps=1 writes weights and optimizer state to disk after each small step.
import tempfile

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ChurnModel(pl.LightningModule):
    """Will a customer leave next quarter? Wide MLP on 120 features of the contract."""

    def __init__(self, n_features=120, hidden=900):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_features, hidden), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hidden, 1),
        )
        self.loss = nn.BCEWithLogitsLoss()

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.loss(self.net(x).squeeze(1), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=5e-4)


def customers(n=160_000, n_features=120):
    g = torch.Generator().manual_seed(9)
    x = torch.randn(n, n_features, generator=g)
    w = torch.randn(n_features, generator=g) / n_features ** 0.5
    p = torch.sigmoid(4 * torch.tanh(x @ w) + x[:, 0] * x[:, 1])
    return TensorDataset(x, torch.bernoulli(p, generator=g))


def main():
    pl.seed_everything(42)
    out = tempfile.mkdtemp(prefix="churn_")
    checkpoint = ModelCheckpoint(
        dirpath=out, filename="churn-{step}", monitor="train_loss", mode="min",
        every_n_train_steps=1, save_top_k=1, save_last=True,
    )
    trainer = pl.Trainer(
        accelerator="cpu", max_epochs=200, logger=False, callbacks=[checkpoint],
        default_root_dir=out, enable_model_summary=False,
    )
    loader = DataLoader(customers(), batch_size=32, shuffle=True)
    trainer.fit(ChurnModel(), loader)


if __name__ == "__main__":
    main()
