# python: loops
# expected: slow-callback [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: np.histogram / on_train_batch_end / WeightTracker
# Why: A callback makes histograms of all weights and gradients after every batch; it takes longer than the training step.
import json
import os
import tempfile

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WeightTracker(L.Callback):
    """Distribution of every layer over time, for the plots of the report."""

    def __init__(self, path, bins=60):
        self.file = open(path, "a")
        self.bins = bins

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if batch_idx % 100:
            return
        row = {"step": trainer.global_step}
        for name, p in module.named_parameters():
            for kind, value in (("weight", p.detach()), ("grad", p.grad)):
                if value is None:
                    continue
                counts, edges = np.histogram(value.numpy().ravel(), bins=self.bins)
                row[f"{kind}/{name}"] = [counts.tolist(), float(edges[0]), float(edges[-1])]
        self.file.write(json.dumps(row) + "\n")


class PollenNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(365, 1024), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(1024, 1024), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(1024, 7))
        self.loss = nn.PoissonNLLLoss(log_input=True)

    def training_step(self, batch, batch_idx):
        season, counts = batch
        loss = self.loss(self.layers(season), counts)
        self.log("nll", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


def stations(n=20000):
    rng = np.random.default_rng(8)
    weather = rng.normal(size=(n, 365)).astype(np.float32)
    rate = np.exp(np.clip(weather[:, :7] * 0.5 + weather[:, 7:14] * 0.3, -2, 2))
    return TensorDataset(torch.from_numpy(weather), torch.from_numpy(rng.poisson(rate).astype(np.float32)))


def main():
    L.seed_everything(1)
    folder = tempfile.mkdtemp(prefix="pollen_")
    trainer = L.Trainer(max_epochs=1000, accelerator="cpu", logger=False, enable_checkpointing=False,
                        default_root_dir=folder, callbacks=[WeightTracker(os.path.join(folder, "weights.jsonl"))])
    trainer.fit(PollenNet(), DataLoader(stations(), batch_size=128, shuffle=True, drop_last=True))


if __name__ == "__main__":
    main()
