# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 40
# where: DataLoader( / enumerate(loader) / multiprocessing_context
# Why: the data set is small and an epoch short; the workers are started anew (spawn, each imports torch again) for every epoch because
# persistent_workers is off. People see "a pause at the beginning of each epoch".
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 12


class Leaves(Dataset):
    def __init__(self, per_class=40, side=48):
        rng = np.random.default_rng(2)
        proto = rng.random((CLASSES, 3, side, side), dtype=np.float32)
        self.labels = np.repeat(np.arange(CLASSES), per_class)
        noise = rng.random((len(self.labels), 3, side, side), dtype=np.float32)
        self.images = 0.4 * proto[self.labels] + 0.6 * noise

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i]
        if np.random.rand() < 0.5:
            img = img[:, :, ::-1]
        dy, dx = np.random.randint(-4, 5, 2)
        img = np.roll(img, (dy, dx), axis=(1, 2))
        return torch.from_numpy(np.ascontiguousarray(img)), int(self.labels[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers, c = [], 3
        for f in (16, 32, 48):
            layers += [nn.Conv2d(c, f, 3, padding=1), nn.BatchNorm2d(f), nn.ReLU(), nn.MaxPool2d(2)]
            c = f
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(48, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).mean(dim=(2, 3)))


def main():
    torch.manual_seed(0)
    loader = DataLoader(
        Leaves(),
        batch_size=32,
        shuffle=True,
        num_workers=2,
        multiprocessing_context="spawn",
    )
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
    step = 0
    for epoch in range(400):
        total = 0.0
        for i, (x, y) in enumerate(loader):
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
            step += 1
        print(f"epoch {epoch} step {step} loss {total / (i + 1):.4f}", flush=True)


if __name__ == "__main__":
    main()
