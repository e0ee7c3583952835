# python: torch
# expected: worker-deadlock
# verdict: stuck
# seconds: 18
# how: attach
# where: with self.guard
# Why: a background thread refreshes an index under a lock while the DataLoader forks. The children get a copy of the
# lock that is taken, and no thread that could give it back: every worker waits for ever in __getitem__.
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Planes(Dataset):
    def __init__(self):
        self.guard = threading.Lock()
        self.index = list(range(4096))
        threading.Thread(target=self.refresh, daemon=True, name="index-refresh").start()

    def refresh(self):
        while True:
            with self.guard:
                self.index = sorted(self.index, key=lambda i: (i * 7919) % 4096)
                time.sleep(0.5)

    def __len__(self):
        return len(self.index)

    def __getitem__(self, item):
        with self.guard:
            row = self.index[item]
        return torch.full((3, 64, 64), float(row)), row % 10


def main():
    data = Planes()
    time.sleep(0.1)
    loader = DataLoader(data, batch_size=32, num_workers=2)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64 * 64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for epoch in range(20):
        for step, (images, labels) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
