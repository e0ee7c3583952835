# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Looks suspicious because the steps are very uneven: documents of 10 to 150 tokens in length buckets, so one step takes ten times another. It is the work itself that differs.
import random

import torch
from torch import nn

VOCAB = 1000


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 64, padding_idx=0)
        self.rnn = nn.LSTM(64, 80, batch_first=True)
        self.out = nn.Linear(80, 6)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed(tokens), lengths, batch_first=True, enforce_sorted=True)
        _, (h, _) = self.rnn(packed)
        return self.out(h[-1])


def documents(count=4000, seed=1):
    g = torch.Generator().manual_seed(seed)
    docs = []
    for _ in range(count):
        n = int(10 + 140 * torch.rand((), generator=g) ** 2)
        label = int(torch.randint(0, 6, (), generator=g))
        words = torch.randint(60, VOCAB, (n,), generator=g)
        hints = torch.randint(0, n, (max(2, n // 8),), generator=g)
        words[hints] = 1 + label * 10 + torch.randint(0, 10, (len(hints),), generator=g)
        docs.append((words, label))
    return docs


def bucketed(docs, size):
    docs = sorted(docs, key=lambda d: -len(d[0]))
    batches = [docs[i:i + size] for i in range(0, len(docs), size)]
    random.shuffle(batches)
    for batch in batches:
        lengths = torch.tensor([len(w) for w, _ in batch])
        tokens = nn.utils.rnn.pad_sequence([w for w, _ in batch], batch_first=True)
        yield tokens, lengths, torch.tensor([l for _, l in batch])


def main():
    random.seed(0)
    torch.manual_seed(0)
    docs = documents()
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    step, total = 0, 0.0
    for epoch in range(200):
        for tokens, lengths, labels in bucketed(docs, 48):
            loss = nn.functional.cross_entropy(model(tokens, lengths), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            total += loss.item()
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {total / 5:.4f}", flush=True)
                total = 0.0


main()
