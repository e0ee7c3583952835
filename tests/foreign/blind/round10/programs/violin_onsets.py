# python: torch
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# where: maxsize=None
# Why: the spectrogram is memoised without bound under a key that holds the random transposition and offset: no entry is ever met
# again, every one is kept, and the process grows by some megabytes a second.
"""Note onsets of a solo violin from short spectrograms."""
import functools
import logging
import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("onsets")

RATE, LENGTH, FRAMES, BINS = 8000, 8192, 65, 129
WINDOW = torch.hann_window(256)


@functools.lru_cache(maxsize=4096)
def take(number):
    """One recorded take: a few notes with decay, and where they begin."""
    g = torch.Generator().manual_seed(number)
    onsets = (torch.rand(3, generator=g) * (LENGTH - 1200)).long().sort().values
    pitches = 196 * 2 ** (torch.randint(0, 24, (3,), generator=g) / 12)
    t = torch.arange(LENGTH) / RATE
    wave = 0.02 * torch.randn(LENGTH, generator=g)
    for o, p in zip(onsets.tolist(), pitches.tolist()):
        s = t[: LENGTH - o]
        wave[o:] += torch.exp(-6 * s) * torch.sin(2 * math.pi * p * s)
    return wave, onsets


@functools.lru_cache(maxsize=None)
def spectrogram(number, gain, offset):
    wave, onsets = take(number)
    wave = torch.roll(wave, offset) * gain
    spec = torch.stft(wave, 256, 128, window=WINDOW, return_complex=True).abs()
    target = torch.zeros(FRAMES)
    target[((onsets + offset) % LENGTH) // 128] = 1.0
    return torch.log1p(10 * spec), target


class Takes(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        return spectrogram(i, random.uniform(0.5, 1.5), random.randrange(LENGTH))


class OnsetNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d((3, 1)),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d((3, 1)),
        )
        self.rnn = nn.GRU(24 * 14, 64, batch_first=True, bidirectional=True)
        self.out = nn.Linear(128, 1)

    def forward(self, x):
        h = self.front(x.unsqueeze(1))
        h = h.flatten(1, 2).transpose(1, 2)
        return self.out(self.rnn(h)[0]).squeeze(-1)


def main():
    torch.manual_seed(0)
    random.seed(0)
    loader = DataLoader(Takes(), batch_size=16, shuffle=True, drop_last=True)
    model = OnsetNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(8.0))
    step, smooth = 0, None
    for epoch in range(1000):
        for spec, target in loader:
            logits = model(spec)
            loss = criterion(logits, target)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            value = loss.item()
            smooth = value if smooth is None else 0.95 * smooth + 0.05 * value
            step += 1
            if step % 10 == 0:
                found = ((logits > 0) & (target > 0)).sum().item() / target.sum().item()
                log.info("epoch %d step %d loss %.4f recall %.2f", epoch, step, smooth, found)


if __name__ == "__main__":
    main()
