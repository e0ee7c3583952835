# python: loops
# expected: weights-not-updated
# verdict: slow
# seconds: 30
# where: self.optimizer = torch.optim.Adam
# Why: the optimizer is made in __init__ for the first network; setup() builds another one when the number of columns is known, so
# each step moves weights that nobody uses. The printed loss stays where it began.
"""Grape variety from the peaks of a gas chromatogram."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import lightning.pytorch as pl

VARIETIES = ["riesling", "merlot", "syrah", "malbec", "grenache", "pinot", "gamay", "carmenere"]


class Chromatograms(pl.LightningDataModule):
    def __init__(self, samples=24000, compounds=180, batch_size=128):
        super().__init__()
        self.samples, self.compounds, self.batch_size = samples, compounds, batch_size

    def prepare_data(self):
        pass

    def setup(self, stage=None):
        rng = np.random.default_rng(3)
        label = rng.integers(0, len(VARIETIES), self.samples)
        profile = rng.gamma(2.0, 1.0, (len(VARIETIES), self.compounds))
        peaks = profile[label] * rng.lognormal(0, 0.5, (self.samples, self.compounds))
        peaks = np.log1p(peaks)
        peaks = (peaks - peaks.mean(0)) / peaks.std(0)
        x, y = torch.from_numpy(peaks).float(), torch.from_numpy(label).long()
        cut = int(0.9 * self.samples)
        self.train, self.held_out = TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut:], y[cut:])

    @property
    def features(self):
        return self.train.tensors[0].shape[1]

    def train_dataloader(self):
        return DataLoader(self.train, self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.held_out, 512)


def build(features, width=512):
    return nn.Sequential(nn.Linear(features, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                         nn.Linear(width, width), nn.GELU(), nn.Linear(width, len(VARIETIES)))


class AromaNet(pl.LightningModule):
    def __init__(self, features=64, lr=5e-4):
        super().__init__()
        self.net = build(features)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.recent = []

    def setup(self, stage=None):
        features = self.trainer.datamodule.features
        if features != self.net[0].in_features:
            self.net = build(features)

    def configure_optimizers(self):
        return self.optimizer

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.recent.append(loss.item())
        if len(self.recent) == 10:
            print(f"epoch {self.current_epoch:2d}  step {self.global_step:5d}  loss {np.mean(self.recent):.4f}", flush=True)
            self.recent.clear()
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        out = self.net(x)
        self.log("val_loss", nn.functional.cross_entropy(out, y))
        self.log("val_acc", (out.argmax(1) == y).float().mean())

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            m = self.trainer.callback_metrics
            print(f"validation: loss {m['val_loss']:.4f}  accuracy {m['val_acc']:.3f}", flush=True)


if __name__ == "__main__":
    pl.seed_everything(5)
    trainer = pl.Trainer(max_epochs=300, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False)
    trainer.fit(AromaNet(), datamodule=Chromatograms())
