# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Validation and a checkpoint come every few hundred steps and are short against training; the loss is noisy since delays are.
import logging
import tempfile

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def crossings(n, seed):
    g = torch.Generator().manual_seed(seed)
    wind = torch.randn(n, 48, 8, generator=g).cumsum(1) / 5
    wave = wind[:, -12:, 0].abs().mean(1)
    delay = 3 * wave + 2 * (wind[:, -1, 1] > 0.5).float() + torch.distributions.Exponential(0.5).sample((n,))
    return TensorDataset(wind, delay)


class FerryNet(L.LightningModule):
    def __init__(self, hidden=96):
        super().__init__()
        self.rnn = nn.GRU(8, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).squeeze(1)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.huber_loss(self(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", nn.functional.huber_loss(self(batch[0]), batch[1]), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    L.seed_everything(5)
    train = DataLoader(crossings(19200, 1), batch_size=64, shuffle=True, drop_last=True)
    val = DataLoader(crossings(640, 2), batch_size=64)
    keep = ModelCheckpoint(dirpath=tempfile.mkdtemp(prefix="ferry"), every_n_train_steps=150, save_top_k=1)
    trainer = L.Trainer(max_epochs=500, accelerator="cpu", logger=False, callbacks=[keep],
                        val_check_interval=150, num_sanity_val_steps=1)
    trainer.fit(FerryNet(), train, val)
