# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# Why: Utterances of very different lengths come in buckets, so steps take 30 to 300 ms and the losses of long and short ones differ; the GRU is the work.
import logging
import random
import time

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(message)s", datefmt="%H:%M:%S")
PHONES, MELS = 38, 40


def utterances(n, seed=0):
    rng = np.random.default_rng(seed)
    voice = rng.normal(0, 1, (PHONES, MELS)).astype(np.float32)
    result = []
    for _ in range(n):
        frames = int(np.clip(rng.lognormal(4.6, 0.7), 25, 600))
        phones = np.repeat(rng.integers(0, PHONES, frames // 5 + 1), 5)[:frames]
        mel = voice[phones] + rng.normal(0, 1.5, (frames, MELS)).astype(np.float32)
        result.append((torch.from_numpy(mel), torch.from_numpy(phones)))
    return result


class Buckets:
    """Batches of about the same length each, in random order."""

    def __init__(self, items, size):
        items = sorted(items, key=lambda it: len(it[1]))
        groups = [items[i:i + size] for i in range(0, len(items), size)]
        self.batches = [(pad_sequence([m for m, _ in g], batch_first=True),
                         pad_sequence([p for _, p in g], batch_first=True, padding_value=-1)) for g in groups]

    def __iter__(self):
        random.shuffle(self.batches)
        return iter(self.batches)


class Recognizer(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.rnn = nn.GRU(MELS, hidden, num_layers=2, batch_first=True, bidirectional=True, dropout=0.2)
        self.out = nn.Linear(2 * hidden, PHONES)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


def main(accumulate=2):
    random.seed(1)
    torch.manual_seed(1)
    data = Buckets(utterances(1600), 12)
    model = Recognizer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=-1)
    step = 0
    for epoch in range(200):
        for mel, phones in data:
            t0 = time.perf_counter()
            loss = criterion(model(mel).flatten(0, 1), phones.flatten())
            (loss / accumulate).backward()
            step += 1
            if step % accumulate == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                optimizer.zero_grad()
            if step % 5 == 0:
                logging.info("epoch %d step %d frames %d loss %.3f (%.0f ms)", epoch, step, mel.shape[1], loss.item(),
                             (time.perf_counter() - t0) * 1000)


if __name__ == "__main__":
    main()
