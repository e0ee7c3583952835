# python: loops
# expected: step-time-grows [also accepted: slow-callback]
# verdict: slow|healthy
# seconds: 40
# where: register_forward_hook / self._record / output.abs()
# Why: the callback registers its forward hook at every batch instead of once, so each step runs one hook more than the last.
import collections
import logging
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)


class FlowNet(pl.LightningModule):
    """Predicts the next hour of 16 road sensors from the last 96 quarters of an hour."""

    def __init__(self, sensors=16, width=96):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv1d(sensors, width, 5, padding=2), nn.GELU(), nn.Conv1d(width, width, 5, padding=2), nn.GELU())
        self.gru = nn.GRU(width, 48, batch_first=True)
        self.out = nn.Linear(48, sensors * 4)

    def forward(self, x):
        h = self.encoder(x).transpose(1, 2)
        _, last = self.gru(h[:, ::4])
        return self.out(last[0])

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.smooth_l1_loss(self(x), y)
        self.log("loss_flow", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class ActivationMonitor(pl.Callback):
    """Mean and spread of the activations of the encoder over the last fifty batches."""

    def __init__(self):
        self.level = collections.deque(maxlen=50)

    def _record(self, module, inputs, output):
        self.level.append((output.abs().mean().item(), output.std().item()))

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        pl_module.encoder.register_forward_hook(self._record)

    def on_train_epoch_end(self, trainer, pl_module):
        mean, spread = (sum(v) / len(v) for v in zip(*self.level))
        print(f"\nencoder level {mean:.4f} spread {spread:.4f}", flush=True)


def sensors(n, steps=96):
    t = torch.arange(steps + 4).float()
    phase = torch.rand(n, 16, 1) * 6.28
    period = torch.randint(20, 60, (n, 16, 1)).float()
    flow = torch.sin(t * 6.28 / period + phase) + 0.1 * torch.randn(n, 16, steps + 4)
    return flow[..., :steps].contiguous(), flow[..., steps:].flatten(1).contiguous()


if __name__ == "__main__":
    pl.seed_everything(7)
    data = TensorDataset(*sensors(12800))
    loader = DataLoader(data, batch_size=32, shuffle=True)
    trainer = pl.Trainer(accelerator="cpu", max_epochs=1000, logger=False, enable_checkpointing=False,
                         enable_model_summary=False, callbacks=[ActivationMonitor()])
    trainer.fit(FlowNet(), loader)
