# python: torch
# expected: worker-died
# verdict: crashed
# seconds: 30
# Why: a native library reads through a null pointer for one picture in a worker. The worker ends by SIGSEGV, PyTorch
# raises "DataLoader worker (pid ...) is killed by signal".
import ctypes

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

libc = ctypes.CDLL(None)
libc.strlen.argtypes = [ctypes.c_void_p]


class Ships(Dataset):
    def __init__(self):
        self.names = [f"ship {i}".encode() for i in range(20000)]
        self.names[1200] = None

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        length = libc.strlen(self.names[index])
        image = np.random.default_rng(index).random((3, 64, 64), dtype=np.float32)
        return torch.from_numpy(image), length % 10


def main():
    loader = DataLoader(Ships(), batch_size=32, num_workers=2)
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(20):
        for step, (images, labels) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"epoch {epoch} step {step}/{len(loader)} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
