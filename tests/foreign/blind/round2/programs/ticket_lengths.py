# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# how: attach
# Why: looks suspicious because step times differ by a factor of ten; batches are bucketed by text length, and the long ones are long.
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

VOCAB, TOPICS = 8000, 9
torch.manual_seed(14)


class Tickets(Dataset):
    def __init__(self, n=12000):
        rng = np.random.default_rng(14)
        self.y = rng.integers(0, TOPICS, n)
        lengths = np.clip(rng.lognormal(3.6, 0.8, n), 8, 300).astype(int)
        self.x = [torch.from_numpy(np.where(rng.random(k) < 0.3, 10 + t * 50 + rng.integers(0, 50, k),
                                            rng.integers(500, VOCAB, k))) for k, t in zip(lengths, self.y)]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], int(self.y[i])


class ByLength(Sampler):
    def __init__(self, data, batch):
        order = np.argsort([len(x) for x in data.x], kind="stable")
        self.batches = [order[i:i + batch].tolist() for i in range(0, len(order), batch)]

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for k in torch.randperm(len(self.batches)).tolist():
            yield self.batches[k]


def collate(items):
    lengths = torch.tensor([len(x) for x, _ in items])
    ids = nn.utils.rnn.pad_sequence([x for x, _ in items], batch_first=True)
    return ids, lengths, torch.tensor([y for _, y in items])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 64, padding_idx=0)
        self.gru = nn.GRU(64, 96, batch_first=True, bidirectional=True)
        self.out = nn.Linear(192, TOPICS)

    def forward(self, ids, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.out(torch.cat([h[0], h[1]], 1))


def main():
    data = Tickets()
    loader = DataLoader(data, batch_sampler=ByLength(data, 48), collate_fn=collate)
    model = Classifier()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    for epoch in range(30):
        for ids, lengths, y in loader:
            loss = nn.functional.cross_entropy(model(ids, lengths), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} tokens {int(lengths.sum())} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
