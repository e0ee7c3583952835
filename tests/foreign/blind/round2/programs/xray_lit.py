# python: loops
# expected: waits-for-terminal
# verdict: stuck
# env: OMP_WAIT_POLICY=passive
# seconds: 35
# where: input(
# Why: a question about an existing output folder waits for an answer in a run that nobody sits at; it came in with a helper copied from a notebook.
import os
import tempfile
import warnings
import numpy as np
import torch
from torch import nn
import lightning.pytorch as pl
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
SIDE = 48


def make_films(n=2000):
    rng = np.random.default_rng(61)
    x = rng.normal(0.4, 0.1, (n, 1, SIDE, SIDE))
    y = rng.integers(0, 2, n)
    for i in np.flatnonzero(y):
        r, c = rng.integers(8, SIDE - 16, 2)
        x[i, 0, r:r + 8, c:c + 8] += 0.25
    return TensorDataset(torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y))


class Films(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 12, 3, stride=2), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(),
            nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(96, 2))

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        if self.global_step % 20 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def prepare_output(folder):
    if os.path.isdir(folder) and os.listdir(folder):
        answer = input(f"{os.path.basename(folder)} is not empty, continue? [y/N] ")
        if answer.strip().lower() != "y":
            raise SystemExit("left as it was")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.txt"), "w") as f:
        f.write(f"side={SIDE}\n")
    return folder


def main():
    pl.seed_everything(61)
    films = make_films()
    with tempfile.TemporaryDirectory() as root:
        for side in ("left", "right"):
            folder = prepare_output(os.path.join(root, "films-v2"))
            trainer = pl.Trainer(accelerator="cpu", max_epochs=2 if side == "left" else 200, logger=False,
                                 enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
            trainer.fit(Films(), DataLoader(films, batch_size=32, shuffle=True))
            trainer.save_checkpoint(os.path.join(folder, f"{side}.ckpt"))


if __name__ == "__main__":
    main()
