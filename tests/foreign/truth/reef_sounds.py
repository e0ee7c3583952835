# python: loops
# truth: step=computes, batch=makes data, check=validates, log=logs, save=checkpoints
# Why: Lightning with data made in its own loop, a validation every 10 steps, a callback that writes figures, checkpoints.
import json
import os
import tempfile
import warnings

import lightning.pytorch as pl
import numpy as np
import torch
from torch import nn

import stopwatch

warnings.filterwarnings("ignore")


class Reef(torch.utils.data.IterableDataset):
    def __iter__(self):
        rng = np.random.default_rng(5)
        while True:
            with stopwatch.part("batch"):
                batch = self.make(rng)
            yield batch

    def make(self, rng):
        waves = rng.normal(size=(192, 512)).astype(np.float32)
        for row in waves:
            row[:] = np.convolve(row, np.hanning(64), mode="same")
        return torch.from_numpy(np.abs(np.fft.rfft(waves)).astype(np.float32)), torch.from_numpy(rng.integers(0, 7, 192))


class Listener(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(257, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 7))

    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, index):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-4)


class Timers(pl.Callback):
    def on_train_batch_start(self, trainer, module, batch, index):
        if index == 0:
            stopwatch.started()
        stopwatch.enter("step")

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        stopwatch.leave()

    def on_validation_start(self, trainer, module):
        stopwatch.enter("check")

    def on_validation_end(self, trainer, module):
        stopwatch.leave()


class Diary(pl.Callback):
    def __init__(self, folder):
        self.folder = folder

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        with stopwatch.part("log"):
            with open(os.path.join(self.folder, "diary.jsonl"), "a") as file:
                for name, weight in module.named_parameters():
                    figures = weight.detach().flatten()[:20_000].tolist()
                    file.write(json.dumps({"step": index, "name": name, "first": sorted(figures)[:50]}) + "\n")
        if index % 10 == 9:
            print(f"step {index + 1} loss {outputs['loss'].item():.4f}", flush=True)


class Keeper(pl.Callback):
    def __init__(self, folder):
        self.folder = folder

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if index % 8 == 7:
            with stopwatch.part("save"):
                trainer.save_checkpoint(os.path.join(self.folder, "last.ckpt"))


def main():
    folder = tempfile.mkdtemp()
    rng = np.random.default_rng(6)
    held_back = [Reef().make(rng) for _ in range(16)]
    trainer = pl.Trainer(accelerator="cpu", max_steps=1_000_000, val_check_interval=10, num_sanity_val_steps=0,
                         callbacks=[Timers(), Diary(folder), Keeper(folder)], logger=False, default_root_dir=folder,
                         enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Listener(), torch.utils.data.DataLoader(Reef(), batch_size=None),
                torch.utils.data.DataLoader(held_back, batch_size=None))


if __name__ == "__main__":
    main()
