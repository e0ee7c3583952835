# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 30
# how: attach
# where: torch.set_num_threads
# Why: the thread count comes from the 48-core server the script was written for; on two cores the OpenMP threads fight for them at every barrier.
import numpy as np
import torch
from torch import nn

FIELDS, BUCKETS, DIM, BATCH = 20, 1000, 16, 512
torch.set_num_threads(48)
torch.manual_seed(2)
rng = np.random.default_rng(2)


class DeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Embedding(FIELDS * BUCKETS, 1)
        self.table = nn.Embedding(FIELDS * BUCKETS, DIM)
        nn.init.normal_(self.linear.weight, std=0.01)
        nn.init.normal_(self.table.weight, std=0.05)
        self.deep = nn.Sequential(
            nn.Linear(FIELDS * DIM, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
        self.register_buffer("offset", torch.arange(FIELDS) * BUCKETS)

    def forward(self, ids):
        ids = ids + self.offset
        e = self.table(ids)
        fm = 0.5 * (e.sum(1) ** 2 - (e ** 2).sum(1)).sum(1)
        return self.linear(ids).sum((1, 2)) + fm + self.deep(e.flatten(1))[:, 0]


def make_log(n):
    ids = np.minimum(rng.zipf(1.3, (n, FIELDS)), BUCKETS) - 1
    effect = rng.normal(size=(FIELDS, BUCKETS)) * 0.5
    logit = effect[np.arange(FIELDS), ids].sum(1) - 1
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    return torch.from_numpy(ids), torch.from_numpy(y.astype(np.float32))


def main():
    ids, y = make_log(200000)
    model = DeepFM()
    opt = torch.optim.Adagrad(model.parameters(), lr=0.02)
    lossf = nn.BCEWithLogitsLoss()
    step, running = 0, 0.0
    for epoch in range(1000):
        order = torch.randperm(len(y))
        for i in range(0, len(y) - BATCH, BATCH):
            take = order[i:i + BATCH]
            loss = lossf(model(ids[take]), y[take])
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            running += loss.item()
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} logloss {running / 5:.4f}", flush=True)
                running = 0.0


if __name__ == "__main__":
    main()
