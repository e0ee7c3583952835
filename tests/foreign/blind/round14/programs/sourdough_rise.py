# python: loops
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# where: self.outputs.append
# Why: every step's features are kept for the end of the epoch and nobody empties the list there, so memory grows all the time.
"""How far a sourdough will rise: temperature, humidity and acidity of the jar over two days, the height at the end."""
import tempfile
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
HOURS, SENSORS = 48, 6


def draw_jars(count, seed=5):
    generator = torch.Generator().manual_seed(seed)
    warmth = torch.randn(count, 1, generator=generator)
    readings = 0.6 * warmth[:, :, None] + torch.randn(count, HOURS, SENSORS, generator=generator).cumsum(1) * 0.2
    activity = torch.tanh(readings[..., 0] + 0.5 * readings[..., 1] * readings[..., 2])
    rise = activity.mean(1) + 0.3 * activity[:, -12:].mean(1) + 0.1 * torch.randn(count, generator=generator)
    return readings, (rise - rise.mean()) / rise.std()


class RiseModel(pl.LightningModule):
    def __init__(self, width=128):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv1d(SENSORS, width, 5, padding=2), nn.GELU(), nn.Conv1d(width, width, 5, padding=2, stride=2), nn.GELU(),
            nn.Conv1d(width, width, 5, padding=2, stride=2), nn.GELU())
        self.head = nn.Linear(width, 1)
        self.outputs = []

    def training_step(self, batch, _):
        readings, rise = batch
        features = self.inner(readings.transpose(1, 2))
        guess = self.head(features.mean(2))[:, 0]
        loss = F.mse_loss(guess, rise)
        self.outputs.append({"loss": loss.detach(), "features": F.avg_pool1d(features.detach(), 2), "error": (guess - rise).detach()})
        if self.global_step % 6 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}")
        return loss

    def on_train_epoch_end(self):
        loss = torch.stack([each["loss"] for each in self.outputs]).mean()
        worst = max(each["error"].abs().max().item() for each in self.outputs[-20:])
        strength = self.outputs[-1]["features"].norm(dim=1).mean()
        print(f"== epoch {self.current_epoch}: mean loss {loss:.4f}, worst jar {worst:.2f}, features {strength:.2f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    pl.seed_everything(2)
    jars = TensorDataset(*draw_jars(1536))
    loader = DataLoader(jars, batch_size=128, shuffle=True, num_workers=0)
    with tempfile.TemporaryDirectory() as folder:
        trainer = pl.Trainer(max_epochs=20000, accelerator="cpu", logger=False, enable_checkpointing=False,
                             enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
        trainer.fit(RiseModel(), loader)


if __name__ == "__main__":
    main()
