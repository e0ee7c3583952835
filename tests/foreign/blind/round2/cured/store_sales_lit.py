# python: loops
# expected: slow-callback [also accepted: slow-storage]
# verdict: slow
# env: OMP_WAIT_POLICY=passive
# seconds: 35
# where: ModelCheckpoint / trainer.fit
# Why: the checkpoint callback saves model and optimizer after every training step; set so while hunting a crash, or meant as "every epoch".
import logging
import tempfile
import warnings
import numpy as np
import torch
from torch import nn
import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
STORES, ITEMS, DIM, TEXT = 800, 100000, 32, 96


def make_sales(n=200000):
    rng = np.random.default_rng(50)
    store, item = rng.integers(0, STORES, n), rng.integers(0, ITEMS, n)
    promo = rng.integers(0, 2, n)
    units = 2 + np.sin(store / 40) + np.cos(item / 300) + promo + 0.2 * rng.normal(size=n)
    return TensorDataset(torch.from_numpy(store), torch.from_numpy(item),
                         torch.from_numpy(promo.astype(np.float32)), torch.from_numpy(units.astype(np.float32)))


class Sales(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.store = nn.Embedding(STORES, DIM)
        self.register_buffer("item_text", torch.randn(ITEMS, TEXT))
        self.net = nn.Sequential(nn.Linear(DIM + TEXT + 1, 64), nn.ReLU(), nn.Linear(64, 1))

    def training_step(self, batch, _):
        store, item, promo, units = batch
        h = torch.cat([self.store(store), self.item_text[item], promo[:, None]], 1)
        loss = nn.functional.mse_loss(self.net(h)[:, 0], units)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


class Lines(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if trainer.global_step % 10 == 0:
            print(f"step {trainer.global_step} loss {outputs['loss'].item():.4f}", flush=True)


def main():
    pl.seed_everything(50)
    with tempfile.TemporaryDirectory() as folder:
        keep = ModelCheckpoint(folder, monitor="loss", save_last=True, every_n_train_steps=500)
        trainer = pl.Trainer(accelerator="cpu", max_epochs=50, callbacks=[keep, Lines()], logger=False,
                             enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(Sales(), DataLoader(make_sales(), batch_size=256, shuffle=True))


if __name__ == "__main__":
    main()
