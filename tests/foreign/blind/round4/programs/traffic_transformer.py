# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=passive
# Why: Looks suspicious because it prints one line per epoch only, a validation follows each epoch, and the loss is at its floor (the noise of the data); it trains steadily.
import warnings

warnings.filterwarnings("ignore")
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SENSORS, PAST = 10, 36


def traffic(hours=4000, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(hours).float()[:, None]
    offset = torch.rand(1, SENSORS, generator=g) * 6.28
    flow = torch.sin(6.28 * t / 24 + offset) + 0.3 * torch.sin(6.28 * t / 168)
    flow = flow + 0.25 * torch.randn(hours, SENSORS, generator=g)
    windows = flow.unfold(0, PAST + 1, 2).transpose(1, 2)
    return TensorDataset(windows[:, :PAST].contiguous(), windows[:, PAST].contiguous())


class Forecaster(L.LightningModule):
    def __init__(self, width=64):
        super().__init__()
        self.inputs = nn.Linear(SENSORS, width)
        self.position = nn.Parameter(torch.randn(PAST, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(width, SENSORS)
        self.train_losses = []

    def forward(self, x):
        return self.out(self.encoder(self.inputs(x) + self.position)[:, -1])

    def training_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self(batch[0]), batch[1])
        self.train_losses.append(loss.item())
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", nn.functional.mse_loss(self(batch[0]), batch[1]))

    def on_train_epoch_end(self):
        mean = sum(self.train_losses) / len(self.train_losses)
        self.train_losses.clear()
        val = self.trainer.callback_metrics["val_loss"].item()
        print(f"epoch {self.current_epoch} loss {mean:.4f} val_loss {val:.4f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 5e-4)


def main():
    L.seed_everything(0)
    data = traffic()
    cut = int(len(data) * 0.8)
    train = torch.utils.data.Subset(data, range(cut))
    val = torch.utils.data.Subset(data, range(cut, len(data)))
    trainer = L.Trainer(
        max_epochs=400,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(
        Forecaster(),
        DataLoader(train, batch_size=64, shuffle=True),
        DataLoader(val, batch_size=128),
    )


if __name__ == "__main__":
    main()
