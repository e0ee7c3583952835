# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Looks suspicious because of worker processes that mostly wait (the model is slower than the loader), a pool of idle threads for writing checkpoints, and slow steps; the model is simply the larger part.
import copy
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

HEIGHT, WIDTH, SYMBOLS = 24, 128, 20


class TextLines(Dataset):
    def __init__(self, count=4000):
        self.count = count
        self.glyphs = np.random.default_rng(0).random((SYMBOLS, 16, 10)).astype(np.float32)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        n = int(rng.integers(5, 11))
        text = rng.integers(0, SYMBOLS, n)
        image = rng.random((HEIGHT, WIDTH)).astype(np.float32) * 0.2
        for k, symbol in enumerate(text):
            image[4:20, 4 + 11 * k:14 + 11 * k] += self.glyphs[symbol]
        target = np.zeros(12, np.int64)
        target[:n] = text + 1
        return torch.from_numpy(image)[None], torch.from_numpy(target), n


class Recognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d((2, 1)),
        )
        self.rnn = nn.GRU(64 * 6, 128, bidirectional=True, batch_first=True)
        self.out = nn.Linear(256, SYMBOLS + 1)

    def forward(self, x):
        f = self.features(x).permute(0, 3, 1, 2).flatten(2)
        return self.out(self.rnn(f)[0]).log_softmax(2)


def write(state, path):
    torch.save(state, path)


def main():
    torch.manual_seed(0)
    writers = ThreadPoolExecutor(16)
    list(writers.map(abs, range(64)))
    loader = DataLoader(TextLines(), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    model = Recognizer()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    ctc = nn.CTCLoss(zero_infinity=True)
    folder = tempfile.mkdtemp()
    step = 0
    for epoch in range(100):
        for images, targets, lengths in loader:
            out = model(images).transpose(0, 1)
            frames = torch.full((len(images),), out.shape[0], dtype=torch.long)
            loss = ctc(out, targets, frames, lengths)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
            if step % 100 == 0:
                state = copy.deepcopy(model.state_dict())
                writers.submit(write, state, os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
