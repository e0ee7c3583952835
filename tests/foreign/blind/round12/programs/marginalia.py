# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 35
# Why: some seconds of preparation before the first step, batches of very different length (so steps of very different length), gradient
# clipping and a short validation every 60 steps: all as it should be, the LSTM is the work.
"""Which monk wrote this note in the margin? An LSTM over words of invented dialects."""
import collections
import time

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

MONKS = 6
rng = np.random.default_rng(21)


def syllables(monk):
    own = np.random.default_rng(100 + monk // 2)
    return ["".join(own.choice(list("bdglmnrst"))) + "".join(own.choice(list("aeiou"))) for _ in range(14)]


TABLES = [syllables(m) for m in range(MONKS)]


def note(monk):
    table, words = TABLES[monk], []
    ends = ["us", "um"] if monk % 2 else ["is", "em"]
    for _ in range(int(rng.gamma(3, 9)) + 6):
        word = "".join(table[i] for i in rng.integers(0, 14, rng.integers(1, 3)))
        if rng.random() < 0.25:
            word += ends[rng.integers(0, 2)]
        words.append(word)
    return words


def corpus(n):
    monks = rng.integers(0, MONKS, n)
    return [note(m) for m in monks], torch.from_numpy(monks)


class Reader(nn.Module):
    def __init__(self, words, size=96):
        super().__init__()
        self.embed = nn.Embedding(words, 64, padding_idx=0)
        self.lstm = nn.LSTM(64, size, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * size, MONKS)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.out(torch.cat([h[0], h[1]], 1))


def batches(tokens, monks, size):
    order = np.argsort([len(t) + rng.uniform(0, 6) for t in tokens])
    groups = np.array_split(order, len(tokens) // size)
    for g in rng.permutation(len(groups)):
        part = [tokens[i] for i in groups[g]]
        yield pad_sequence(part, True), torch.tensor([len(p) for p in part]), monks[groups[g]]


def main():
    torch.manual_seed(6)
    start = time.time()
    notes, monks = corpus(5000)
    seen = collections.Counter(w for n in notes for w in n)
    index = {w: i + 2 for i, (w, c) in enumerate(seen.most_common(1500))}
    tokens = [torch.tensor([index.get(w, 1) for w in n]) for n in notes]
    print(f"{len(notes)} notes, {len(seen)} words, {time.time() - start:.1f} s", flush=True)
    train, test = (tokens[:4700], monks[:4700]), (tokens[4700:], monks[4700:])
    model = Reader(len(index) + 2)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    step = 0
    for epoch in range(1, 101):
        for x, lengths, y in batches(*train, 32):
            loss = nn.functional.cross_entropy(model(x, lengths), y, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 2 == 0:
                print(f"epoch {epoch}  step {step:5d}  words {x.shape[1]:3d}  loss {loss.item():.4f}  norm {norm:.2f}", flush=True)
            if step % 60 == 0:
                model.eval()
                with torch.no_grad():
                    right = [(model(a, b).argmax(1) == c).float().mean().item() for a, b, c in batches(*test, 100)]
                model.train()
                print(f"epoch {epoch}  held out {np.mean(right):.3f}  {time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
