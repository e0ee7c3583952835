# python: loops
# expected: hidden-validation
# verdict: slow
# seconds: 35
# where: validation_step / trainer.fit / val_loader / self.net(x)
# Why: The training set has 12 batches, the validation set 120 large ones, and validation runs after every epoch: most of the time goes there,
#   and nothing of it is printed.
import time
import warnings

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class SoilModel(L.LightningModule):
    def __init__(self, width=384):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(96, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
        self.began = time.time()

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.net(x).squeeze(1), y)
        if self.global_step % 12 == 0:
            print(f"global step {self.global_step} mse {loss.item():.4f} after {time.time() - self.began:.1f} s", flush=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_mse", F.mse_loss(self.net(x).squeeze(1), y))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def probes(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 96, generator=g)
    y = torch.tanh(x[:, :8].sum(1) / 3) + 0.5 * torch.sin(x[:, 8] * x[:, 9]) + 0.1 * torch.randn(n, generator=g)
    return TensorDataset(x, y)


class Pick(torch.utils.data.Sampler):
    """Whole batches as index tensors, so that a batch is one lookup."""

    def __init__(self, n, batch, shuffle):
        self.n, self.batch, self.shuffle = n, batch, shuffle

    def __len__(self):
        return self.n // self.batch

    def __iter__(self):
        order = torch.randperm(self.n) if self.shuffle else torch.arange(self.n)
        for i in range(len(self)):
            yield order[i * self.batch:(i + 1) * self.batch]


def loader(dataset, batch, shuffle):
    return DataLoader(dataset, sampler=Pick(len(dataset), batch, shuffle), batch_size=None)


if __name__ == "__main__":
    L.seed_everything(7)
    train_loader = loader(probes(12 * 128, seed=1), 128, shuffle=True)
    val_loader = loader(probes(120 * 512, seed=2), 512, shuffle=False)
    trainer = L.Trainer(max_epochs=100000, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
                        use_distributed_sampler=False, check_val_every_n_epoch=50)
    trainer.fit(SoilModel(), train_loader, val_loader)
