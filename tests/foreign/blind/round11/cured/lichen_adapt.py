import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trunk(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.width = width * 4

    def forward(self, x):
        return self.net(x)


class LichenNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.trunk = Trunk()
        self.head = nn.Linear(self.trunk.width, classes)

    def forward(self, x):
        return self.head(self.trunk(x))

    def set_classes(self, classes):
        self.head = nn.Linear(self.trunk.width, classes)


def photographs(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    prototypes = torch.rand(classes, 3, 6, 6, generator=g)
    prototypes = nn.functional.interpolate(prototypes, size=24, mode="bilinear", align_corners=False)
    label = torch.randint(0, classes, (n,), generator=g)
    shift = torch.randint(-3, 4, (n,), generator=g)
    images = prototypes[label] + 0.25 * torch.randn(n, 3, 24, 24, generator=g)
    images = torch.stack([torch.roll(im, int(s), dims=2) for im, s in zip(images, shift)])
    return TensorDataset((images - 0.5) / 0.4, label)


def run_epochs(model, optimizer, loader, epochs, tag, every):
    step, began = 0, time.time()
    for epoch in range(epochs):
        right = count = 0
        for x, y in loader:
            optimizer.zero_grad()
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            step += 1
            right += (out.argmax(1) == y).sum().item()
            count += len(y)
            if step % every == 0:
                print(f"{tag} epoch {epoch} step {step} loss {loss.item():.4f} acc {right / count:.3f} {time.time() - began:.1f}s", flush=True)


def main():
    torch.manual_seed(11)
    model = LichenNet(classes=5)

    regional = DataLoader(photographs(640, 5, seed=1), batch_size=32, shuffle=True)
    run_epochs(model, torch.optim.Adam(model.parameters(), lr=1e-3), regional, epochs=2, tag="regional", every=10)

    model.set_classes(16)
    for p in model.trunk.parameters():
        p.requires_grad = False
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trainable, lr=0.02, momentum=0.9)

    alpine = DataLoader(photographs(3200, 16, seed=2), batch_size=32, shuffle=True)
    print(f"adapting to 16 species, {sum(p.numel() for p in model.head.parameters())} parameters in the head", flush=True)
    run_epochs(model, optimizer, alpine, epochs=200, tag="alpine", every=10)


if __name__ == "__main__":
    main()
