# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# Why: Validation over a held-out season every 200 steps holds the bar for a second or two, a few per cent of the time; the GRU is the work.
import warnings

import lightning.pytorch as pl
import numpy as np
import torch
from lightning.pytorch.callbacks import TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class GaugeData(pl.LightningDataModule):
    def __init__(self, batch_size=48, window=72):
        super().__init__()
        self.batch_size, self.window = batch_size, window

    def setup(self, stage=None):
        rng = np.random.default_rng(17)
        n = 40000
        rain = rng.gamma(0.15, 2.0, n).astype(np.float32)
        soil, flow = np.zeros(n, np.float32), np.zeros(n, np.float32)
        for t in range(1, n):
            soil[t] = 0.98 * soil[t - 1] + 0.3 * rain[t]
            flow[t] = 0.9 * flow[t - 1] + 0.1 * soil[t] + 0.2 * rain[t] * (soil[t] > 4)
        x = np.stack([rain / 2, np.log1p(flow)], 1)
        win = torch.from_numpy(np.lib.stride_tricks.sliding_window_view(x, self.window, axis=0).transpose(0, 2, 1).copy())
        target = torch.from_numpy(np.log1p(flow)[self.window - 1:])[:, None]
        k = self.window
        self.train = TensorDataset(win[:30000 - k, :-6], target[:30000 - k])
        self.val = TensorDataset(win[30000:32000, :-6], target[30000:32000])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=500)


class GaugeModel(pl.LightningModule):
    def __init__(self, hidden=96):
        super().__init__()
        self.gru = nn.GRU(2, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.gru(x)[0][:, -1])

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self(x), y), prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=6e-4)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 60)}


if __name__ == "__main__":
    pl.seed_everything(1)
    trainer = pl.Trainer(max_epochs=60, accelerator="cpu", val_check_interval=200, num_sanity_val_steps=0, logger=False,
                         enable_checkpointing=False, callbacks=[TQDMProgressBar(refresh_rate=20)])
    trainer.fit(GaugeModel(), datamodule=GaugeData())
