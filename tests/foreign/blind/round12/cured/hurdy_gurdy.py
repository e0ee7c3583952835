"""Next-note prediction for drone-and-melody tunes with a GRU cell that is unrolled by hand."""
import time

import numpy as np
import torch
from torch import nn

NOTES, LENGTH, BATCH = 24, 32, 64
torch.manual_seed(5)
rng = np.random.default_rng(5)


def tunes(n):
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16, 17, 19])
    motif = rng.integers(0, 6, (n, 8))
    out = np.empty((n, LENGTH), np.int64)
    for bar in range(LENGTH // 8):
        shift = np.array([0, 2, 4, 0])[bar]
        out[:, bar * 8:(bar + 1) * 8] = scale[motif + shift]
    slips = rng.random(out.shape) < 0.03
    out[slips] = rng.integers(0, NOTES, slips.sum())
    return torch.from_numpy(out)


class Player(nn.Module):
    def __init__(self, size=192):
        super().__init__()
        self.embed = nn.Embedding(NOTES, 48)
        self.lower = nn.GRUCell(48, size)
        self.upper = nn.GRUCell(size, size)
        self.out = nn.Linear(size, NOTES)
        self.size = size

    def start(self, n):
        return torch.zeros(n, self.size), torch.zeros(n, self.size)

    def forward(self, note, state):
        low = self.lower(self.embed(note), state[0])
        high = self.upper(low, state[1])
        return self.out(high), (low, high)


def train_batch(player, criterion, optimizer, batch):
    state = player.start(len(batch))
    per_note, hits = [], 0
    for t in range(LENGTH - 1):
        logits, state = player(batch[:, t], state)
        per_note.append(criterion(logits, batch[:, t + 1]))
        hits += (logits.argmax(1) == batch[:, t + 1]).float().mean().item()
    loss = torch.stack(per_note).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(player.parameters(), 1.0)
    optimizer.step()
    return loss.item(), hits / (LENGTH - 1)


def main():
    songs = tunes(6400)
    player = Player()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(player.parameters(), 2e-3)
    print(sum(p.numel() for p in player.parameters()), "parameters", flush=True)
    start, step = time.time(), 0
    for epoch in range(1, 101):
        for batch in torch.randperm(len(songs)).split(BATCH):
            loss, hits = train_batch(player, criterion, optimizer, songs[batch])
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch}  step {step:5d}  loss {loss:.4f}  hits {hits:.3f}  {time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
