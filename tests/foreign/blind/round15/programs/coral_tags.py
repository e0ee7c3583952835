# python: torch
# expected: loss-output-mismatch
# verdict: slow
# seconds: 25
# where: nn.CrossEntropyLoss()
# Why: the network ends in a Softmax and CrossEntropyLoss applies another one: with inputs between 0 and 1 the loss of twelve kinds
# cannot get below 1.62 however sure the network is.
"""Tags for reef photographs: which of twelve kinds of coral is in the picture?"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TAGS = 12


def photographs(count, seed):
    random = torch.Generator().manual_seed(99)
    coarse = torch.randn(TAGS, 3, 6, 6, generator=random)
    kinds = nn.functional.interpolate(coarse, size=(32, 32), mode="bilinear", align_corners=False)
    random.manual_seed(seed)
    tag = torch.randint(TAGS, (count,), generator=random)
    strength = 0.1 + 0.3 * torch.rand(count, 1, 1, 1, generator=random)
    images = strength * kinds[tag] + 0.8 * torch.randn(count, 3, 32, 32, generator=random)
    return TensorDataset(images, tag)


class Reef(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(48 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, TAGS), nn.Softmax(dim=1))

    def forward(self, x):
        return self.head(self.features(x))


def score(model, loader):
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(5)
    train = DataLoader(photographs(6400, 1), batch_size=64, shuffle=True)
    valid = DataLoader(photographs(512, 2), batch_size=128)
    model = Reef()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    for epoch in range(1, 81):
        for x, y in train:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        print(f"epoch {epoch} done, tagged rightly {score(model, valid):.3f}", flush=True)


if __name__ == "__main__":
    main()
