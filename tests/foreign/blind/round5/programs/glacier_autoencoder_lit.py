# python: loops
# expected: host-memory-leak
# verdict: healthy|slow
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# where: step_outputs.append
# Why: Every step's input and reconstruction are appended to a list of the LightningModule that is never cleared (the way on_train_epoch_end is often written since Lightning 2.0).
import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RadarSlices(Dataset):
    """Synthetic radargrams: layered ice with noise."""

    def __init__(self, n=960, size=64):
        g = torch.Generator().manual_seed(21)
        depth = torch.linspace(0, 1, size)[None, :, None]
        along = torch.linspace(0, 1, size)[None, None, :]
        f = torch.rand(n, 1, 1, generator=g) * 8 + 2
        tilt = torch.randn(n, 1, 1, generator=g) * 0.4
        self.x = (torch.sin(6.28 * f * (depth + tilt * along)) * torch.exp(-2 * depth)).unsqueeze(1)
        self.x += 0.1 * torch.randn(self.x.shape, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]


class IceAutoencoder(pl.LightningModule):
    def __init__(self, code=24, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 48, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(48, 96, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(96, 128, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(128 * 8 * 8, code))
        self.decoder = nn.Sequential(
            nn.Linear(code, 128 * 8 * 8), nn.ReLU(), nn.Unflatten(1, (128, 8, 8)),
            nn.ConvTranspose2d(128, 96, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(96, 48, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(48, 1, 4, stride=2, padding=1))
        self.step_outputs = []

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, batch_idx):
        recon = self(batch)
        loss = F.mse_loss(recon, batch)
        self.step_outputs.append({"loss": loss.detach(), "recon": recon.detach(), "target": batch})
        self.log("mse", loss, prog_bar=True)
        return loss

    def on_train_epoch_end(self):
        outs = self.step_outputs
        mse = torch.stack([o["loss"] for o in outs]).mean()
        last = outs[-1]
        peak = (last["recon"].amax() - last["target"].amax()).abs()
        print(f"\nepoch {self.current_epoch}: mse {mse:.4f}, peak error {peak:.3f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def main():
    pl.seed_everything(0, workers=True)
    loader = DataLoader(RadarSlices(), batch_size=16, shuffle=True)
    trainer = pl.Trainer(max_epochs=36, accelerator="cpu", logger=False, enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(IceAutoencoder(), loader)


if __name__ == "__main__":
    main()
