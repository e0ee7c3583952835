# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# how: attach
# Why: the longest steps take about ten times as long as the shortest, because chains of very different length are packed into batches of similar length; this is the work.
import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_sequence

torch.manual_seed(2)
rng = np.random.default_rng(2)
AMINO, STATES = 21, 3

lengths = np.sort(np.clip(rng.lognormal(3.9, 0.6, 1200).astype(int), 12, 240))
chains = [torch.from_numpy(rng.integers(1, AMINO, n)) for n in lengths]
targets = [(c + torch.roll(c, 1)) // 14 for c in chains]
batches = [list(range(i, min(i + 24, len(chains)))) for i in range(0, len(chains), 24)]


class Tagger(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(AMINO, 48)
        self.rnn = nn.LSTM(48, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, STATES)

    def forward(self, packed):
        emb = nn.utils.rnn.PackedSequence(self.emb(packed.data), packed.batch_sizes,
                                          packed.sorted_indices, packed.unsorted_indices)
        hidden, _ = self.rnn(emb)
        return self.out(hidden.data)


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()
step = 0
for epoch in range(300):
    rng.shuffle(batches)
    seen = 0
    for members in batches:
        x = pack_sequence([chains[i] for i in members], enforce_sorted=False)
        y = pack_sequence([targets[i] for i in members], enforce_sorted=False)
        loss = loss_fn(model(x), y.data)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        step += 1
        seen += len(y.data)
        if step % 4 == 0:
            print(f"epoch {epoch} step {step} residues {len(y.data)} loss {loss.item():.4f}", flush=True)
    print(f"epoch {epoch} done, {seen} residues", flush=True)
