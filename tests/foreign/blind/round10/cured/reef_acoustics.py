"""Autoencoder for hydrophone spectrograms of a coral reef (snapping shrimp, fish choruses, boats)."""
import os
import tempfile

import lightning.pytorch as pl
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

BANDS, FRAMES = 64, 64


class ReefClips(Dataset):
    """Synthetic clips: tonal choruses with a random pitch, clicks, and sea noise."""

    def __init__(self, n_clips, seed):
        g = torch.Generator().manual_seed(seed)
        pitch = torch.rand(n_clips, generator=g) * 0.8 + 0.1
        rate = torch.randint(3, 12, (n_clips,), generator=g)
        self.pitch, self.rate = pitch, rate
        self.freq = torch.linspace(0, 1, BANDS)[:, None]
        self.time = torch.arange(FRAMES)[None, :]
        self.noise = torch.randn(64, BANDS, FRAMES, generator=g) * 0.05

    def __len__(self):
        return len(self.pitch)

    def __getitem__(self, i):
        tone = torch.exp(-((self.freq - self.pitch[i]) ** 2) / 0.004)
        clicks = (self.time % self.rate[i] == 0).float() * 0.6
        clip = tone * (1 + 0.3 * torch.sin(self.time * 0.4)) + clicks + self.noise[i % 64]
        return clip.unsqueeze(0)


class ReefAutoencoder(pl.LightningModule):
    def __init__(self, width=16, code=48, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(2 * width, 2 * width, 3, stride=2, padding=1), nn.GELU(),
            nn.Flatten(), nn.Linear(2 * width * 64, code),
        )
        self.expand = nn.Linear(code, 2 * width * 64)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(2 * width, 2 * width, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
        )
        self.train_losses, self.worst = [], None

    def forward(self, clip):
        z = F.gelu(self.expand(self.encoder(clip)))
        return self.decoder(z.view(len(clip), -1, 8, 8))

    def training_step(self, batch, batch_idx):
        recon = self(batch)
        loss = F.mse_loss(recon, batch)
        self.log("train_loss", loss)
        value = loss.item()
        if value >= max(self.train_losses, default=0.0):
            self.worst = (recon.detach() - batch).abs().amax()
        self.train_losses.append(value)
        if batch_idx % 20 == 0:
            print(f"epoch {self.current_epoch} batch {batch_idx:5d} loss {loss.item():.4f}", flush=True)
        return loss

    def on_train_epoch_end(self):
        mean = sum(self.train_losses) / len(self.train_losses)
        print(f"epoch {self.current_epoch}: mean loss {mean:.4f}, largest error {self.worst:.3f}", flush=True)
        self.train_losses.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def main():
    pl.seed_everything(11)
    loader = DataLoader(ReefClips(160_000, seed=1), batch_size=64, shuffle=True, num_workers=0)
    trainer = pl.Trainer(
        max_epochs=20,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        default_root_dir=os.path.join(tempfile.gettempdir(), "reef_acoustics"),
    )
    trainer.fit(ReefAutoencoder(), loader)


if __name__ == "__main__":
    main()
