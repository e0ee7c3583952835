# python: loops
# expected: healthy
# verdict: healthy
# env: OMP_WAIT_POLICY=passive
# seconds: 40
# Why: looks suspicious because nothing is printed but one line per epoch, weights move only every fourth batch (gradient accumulation), and each epoch ends with a validation and a small checkpoint; all of it is wanted.
import logging
import tempfile
import warnings
import numpy as np
import torch
from torch import nn
import lightning.pytorch as pl
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
PAST, AHEAD = 72, 24


class Meters(Dataset):
    def __init__(self, first, last, count, seed):
        rng = np.random.default_rng(80)
        hours = np.arange(24 * 500)
        base = 1 + 0.5 * np.sin(2 * np.pi * hours / 24) + 0.2 * np.sin(2 * np.pi * hours / 168)
        scale = rng.gamma(3, 0.4, (60, 1))
        self.load = (base * scale + 0.1 * rng.normal(size=(60, len(hours)))).astype(np.float32)
        pick = np.random.default_rng(seed)
        self.where = np.stack([pick.integers(0, 60, count), pick.integers(first, last - PAST - AHEAD, count)], 1)

    def __len__(self):
        return len(self.where)

    def __getitem__(self, i):
        m, t = self.where[i]
        row = torch.from_numpy(self.load[m, t:t + PAST + AHEAD])
        return row[:PAST, None], row[PAST:]


class Load(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 64, num_layers=2, batch_first=True)
        self.out = nn.Linear(64, AHEAD)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])

    def training_step(self, batch, _):
        loss = nn.functional.smooth_l1_loss(self(batch[0]), batch[1])
        self.log("train", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val", nn.functional.l1_loss(self(batch[0]), batch[1]))

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            print(f"epoch {self.current_epoch} val mae {self.trainer.callback_metrics['val']:.4f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


def main():
    pl.seed_everything(80)
    train, val = Meters(0, 9600, 960, 1), Meters(9600, 12000, 256, 2)
    with tempfile.TemporaryDirectory() as folder:
        trainer = pl.Trainer(accelerator="cpu", max_epochs=60, accumulate_grad_batches=4, gradient_clip_val=1.0,
                             callbacks=[ModelCheckpoint(folder, monitor="val")], logger=False,
                             enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(Load(), DataLoader(train, batch_size=32, shuffle=True), DataLoader(val, batch_size=64))


if __name__ == "__main__":
    main()
