# python: loops
# expected: dataloader-workers [also accepted: input-bound, serial-map]
# verdict: slow
# seconds: 30
# Why: reading, filtering, resampling and the spectrogram of each clip run in the training process (num_workers=0), about
# Why: nine tenths of the time; with two workers it is 1.75 times as fast (the model is so small that one thread does for it).
"""Does the hive have a queen? Log-mel spectrograms of four-second clips and a small convolutional network."""
import pathlib
import tempfile

import numpy as np
import pytorch_lightning as pl
import torch
from scipy import signal, sparse
from scipy.io import wavfile
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE, TARGET, SECONDS, MELS = 22050, 16000, 4, 48


def record(folder, count):
    """Writes the clips: a hum with overtones, higher and rougher without a queen."""
    rng = np.random.default_rng(5)
    time = np.arange(RATE * SECONDS) / RATE
    labels = rng.integers(0, 2, count)
    for index, queenless in enumerate(labels):
        pitch = rng.normal(225 + 35 * queenless, 18)
        clip = sum(np.sin(2 * np.pi * pitch * k * time + rng.uniform(0, 6)) / k for k in (1, 2, 3, 4))
        clip += rng.normal(0, 0.6 + 0.3 * queenless, time.size)
        wavfile.write(folder / f"{index:04d}.wav", RATE, (clip / np.abs(clip).max() * 30000).astype(np.int16))
    return labels


def mel_bank(bins):
    points = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + 8000 / 700), MELS + 2) / 2595) - 1)
    place = points / 8000 * (bins - 1)
    at = np.arange(bins)
    rise = (at - place[:-2, None]) / (place[1:-1] - place[:-2])[:, None]
    fall = (place[2:, None] - at) / (place[2:] - place[1:-1])[:, None]
    return np.maximum(0, np.minimum(rise, fall)).astype(np.float32)


class Clips(Dataset):
    def __init__(self, folder, labels):
        self.folder, self.labels = folder, labels
        self.bank = sparse.csr_matrix(mel_bank(257))
        self.band = signal.butter(6, [90, 7000], "bandpass", fs=RATE, output="sos")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        _, clip = wavfile.read(self.folder / f"{index:04d}.wav")
        clip = signal.sosfilt(self.band, clip.astype(np.float32) / 32768)
        clip = signal.resample_poly(clip, TARGET // 50, RATE // 50)
        _, _, power = signal.spectrogram(clip, TARGET, nperseg=512, noverlap=256)
        mel = np.log(self.bank @ power + 1e-8).astype(np.float32)
        mel = (mel - mel.mean()) / (mel.std() + 1e-6)
        start = np.random.randint(0, mel.shape[1] - 112)
        return torch.from_numpy(mel[None, :, start:start + 112].copy()), int(self.labels[index])


class Hive(pl.LightningModule):
    def __init__(self):
        super().__init__()
        layers, width = [], 1
        for out in (12, 24, 32):
            layers += [nn.Conv2d(width, out, 5 if width == 1 else 3, stride=2 if width == 1 else 1, padding=1), nn.BatchNorm2d(out), nn.ReLU(), nn.MaxPool2d(2)]
            width = out
        self.net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 2))

    def training_step(self, batch, batch_idx):
        mel, queenless = batch
        out = self.net(mel)
        loss = nn.functional.cross_entropy(out, queenless)
        if self.global_step % 5 == 0:
            share = (out.argmax(1) == queenless).float().mean()
            print(f"step {self.global_step} loss {loss.item():.4f} acc {share:.2f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    pl.seed_everything(7)
    torch.set_num_threads(1)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hive-"))
    labels = record(folder, 320)
    loader = DataLoader(Clips(folder, labels), batch_size=16, shuffle=True, num_workers=0)
    trainer = pl.Trainer(max_epochs=500, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Hive(), loader)


if __name__ == "__main__":
    main()
