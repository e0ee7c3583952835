# python: torch
# expected: shared-memory-too-small [also accepted: worker-died]
# verdict: crashed|stuck
# seconds: 30
# setup: small-shm 12
# Why: /dev/shm holds 12 MB (a container gives 64 MB unless told otherwise) and a batch takes 9.6: the second one does
# not fit, and the worker dies of it ("Bus error" or "unable to write to file").
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Maps(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return torch.rand(3, 160, 160), index % 10


def main():
    loader = DataLoader(Maps(), batch_size=32, num_workers=2)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(20):
        for step, (images, labels) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} step {step}/{len(loader)} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
