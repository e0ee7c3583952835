# python: loops
# expected: host-memory-leak
# verdict: healthy|slow
# seconds: 25
# where: self.outputs.append
# Why: The outputs of every training step are kept for the epoch's mean (as in the migration to Lightning 2) and never cleared:
# memory grows by the reconstructed images of each step.
import sys
import tempfile

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DenoisingAutoencoder(pl.LightningModule):
    def __init__(self, width=14, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv2d(2 * width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 1, 3, padding=1),
        )
        self.outputs = []

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, batch_idx):
        clean, = batch
        noisy = clean + 0.3 * torch.randn_like(clean)
        restored = self(noisy)
        loss = nn.functional.mse_loss(restored, clean)
        self.outputs.append({"loss": loss.detach(), "restored": restored, "noisy": noisy})
        return loss

    def on_train_epoch_end(self):
        mean = torch.stack([o["loss"] for o in self.outputs]).mean()
        last = self.outputs[-1]
        gain = ((last["noisy"] - last["restored"].detach()) ** 2).mean()
        print(f"epoch {self.current_epoch:3d}  global step {self.global_step}  mse {mean:.4f}  moved {gain:.4f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def phantom_scans(n, size=64):
    g = torch.Generator().manual_seed(0)
    coarse = torch.rand(n, 1, 8, 8, generator=g)
    return nn.functional.interpolate(coarse, size=size, mode="bilinear", align_corners=False)


if __name__ == "__main__":
    pl.seed_everything(1)
    scans = TensorDataset(phantom_scans(800))
    loader = DataLoader(scans, batch_size=32, shuffle=True)
    trainer = pl.Trainer(
        accelerator="cpu", max_epochs=100000, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, default_root_dir=tempfile.mkdtemp(),
    )
    trainer.fit(DenoisingAutoencoder(), loader)
    sys.exit(0)
