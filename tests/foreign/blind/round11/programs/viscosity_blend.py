# python: loops
# expected: slow-callback [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: torch.linalg.svd(
# Why: a Lightning callback takes the singular values of every weight matrix after each batch; that costs more than the step itself.
"""Predict the viscosity of lubricant blends from composition, with a residual MLP."""
import csv
import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import pytorch_lightning as pl


class BlendBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, width)

    def forward(self, x):
        return x + self.outer(torch.nn.functional.silu(self.inner(self.norm(x))))


class ViscosityNet(pl.LightningModule):
    def __init__(self, components=40, width=320, depth=3):
        super().__init__()
        self.stem = nn.Linear(components, width)
        self.blocks = nn.Sequential(*[BlendBlock(width) for _ in range(depth)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x))).squeeze(-1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.huber_loss(self(x), y)
        self.log("loss", loss)
        if self.global_step % 5 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-4)


class SpectrumWriter(pl.Callback):
    """Keeps a table of stable ranks and condition numbers for the paper's appendix."""

    def __init__(self, path):
        self.path = path

    def on_fit_start(self, trainer, module):
        self.handle = open(self.path, "w", newline="")
        self.table = csv.writer(self.handle)

    @torch.no_grad()
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        row = [trainer.global_step]
        for name, weight in module.named_parameters():
            if weight.ndim != 2 or min(weight.shape) < 2:
                continue
            _, s, _ = torch.linalg.svd(weight, full_matrices=False)
            row += [round((s.square().sum() / s[0] ** 2).item(), 4), round((s[0] / s[-1]).item(), 2)]
        self.table.writerow(row)

    def on_fit_end(self, trainer, module):
        self.handle.close()


def blends(count=40000, components=40):
    g = torch.Generator().manual_seed(5)
    x = torch.distributions.Dirichlet(torch.full((components,), 0.4)).sample((count,))
    logs = torch.randn(components, generator=g)
    pair = torch.randn(components, components, generator=g) / 2
    y = x @ logs * 2 + ((x @ pair) * x).sum(1) * 3 + 0.05 * torch.randn(count, generator=g)
    return TensorDataset(x * components, (y - y.mean()) / y.std())


if __name__ == "__main__":
    pl.seed_everything(2)
    folder = tempfile.mkdtemp(prefix="viscosity_")
    loader = DataLoader(blends(), batch_size=512, shuffle=True, drop_last=True)
    trainer = pl.Trainer(
        max_epochs=400, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        callbacks=[SpectrumWriter(os.path.join(folder, "spectra.csv"))], default_root_dir=folder,
    )
    trainer.fit(ViscosityNet(), loader)
