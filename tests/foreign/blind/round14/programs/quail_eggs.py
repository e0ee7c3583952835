# python: loops
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 35
# where: num_workers=1
# Why: the epochs are short (10 batches) and the worker is spawned anew for each of them, which imports torch and lightning
# every time; persistent_workers=True would start it once.
"""Which quail laid it: five breeds by the speckles of their eggs."""
import tempfile
import warnings

import lightning.pytorch as pl
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")
BREEDS, SIZE = 5, 40


class EggPhotos(Dataset):
    """Drawn eggs: the breed decides how many speckles there are and how dark the shell is."""

    def __init__(self, count, seed):
        self.count, self.seed = count, seed
        rows, columns = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j].astype(np.float32)
        self.rows, self.columns = rows, columns
        self.shell = (rows**2 / 0.8 + columns**2 / 0.5) < 1

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        random = np.random.default_rng(self.seed * 100_003 + index)
        breed = index % BREEDS
        photo = self.shell * (0.55 + 0.07 * breed)
        speckles = random.poisson(4 + 5 * breed)
        where = random.uniform(-0.8, 0.8, (speckles, 2))
        for row, column in where:
            spot = (self.rows - row) ** 2 + (self.columns - column) ** 2 < random.uniform(0.002, 0.01)
            photo = np.where(spot & self.shell, 0.2, photo)
        photo = photo + random.normal(0, 0.08, photo.shape)
        return torch.from_numpy(photo[None].astype(np.float32)), breed


class EggClassifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, BREEDS))

    def training_step(self, batch, _):
        photos, breeds = batch
        scores = self.net(photos)
        loss = F.cross_entropy(scores, breeds)
        if self.global_step % 2 == 0:
            hits = (scores.argmax(1) == breeds).float().mean()
            print(f"epoch {self.current_epoch} step {self.global_step} loss {loss.item():.4f} accuracy {hits.item():.2f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


def main():
    pl.seed_everything(11)
    loader = DataLoader(EggPhotos(480, seed=3), batch_size=48, shuffle=True, num_workers=1, prefetch_factor=4,
                        multiprocessing_context="spawn")
    with tempfile.TemporaryDirectory() as folder:
        trainer = pl.Trainer(max_epochs=5000, accelerator="cpu", logger=False, enable_checkpointing=False,
                             enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
        trainer.fit(EggClassifier(), loader)


if __name__ == "__main__":
    main()
