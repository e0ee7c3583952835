# python: torch
# truth: step=computes, wait=waits for data
# Why: one worker process makes the pictures and needs about twice as long for a batch as the step takes.
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import part, started

torch.set_num_threads(1)


class Leaves(Dataset):
    def __len__(self):
        return 4_000

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        leaf = rng.normal(size=(3, 64, 64)).astype(np.float32)
        for _ in range(8):
            leaf = leaf + np.roll(leaf, 1, axis=1) + np.roll(leaf, 1, axis=2)
            leaf = np.sort(leaf, axis=2)
        return torch.from_numpy(leaf), index % 4


def main():
    model = nn.Sequential(nn.Conv2d(3, 24, 3, stride=2), nn.ReLU(), nn.Conv2d(24, 48, 3, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48 * 16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Leaves(), batch_size=32, num_workers=1, shuffle=True)
    step = 0
    for epoch in range(100):
        batches = iter(loader)
        if epoch == 0:
            images, labels = next(batches)
            started()
        while True:
            with part("step"):
                loss = nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                if step % 20 == 0:
                    print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
            with part("wait"):
                try:
                    images, labels = next(batches)
                except StopIteration:
                    break


if __name__ == "__main__":
    main()
