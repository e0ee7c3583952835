# python: torch
# expected: weights-not-updated [also accepted: loss-frozen, gradient-not-connected]
# verdict: healthy|slow|stuck
# seconds: 30
# where: model.head = / optimizer = / optimizer.step()
# Why: The optimizer is made before the head is replaced by one for the new classes, so it moves the old head, which nobody uses; the backbone is frozen. The loss stays where it began.
import torch
from torch import nn

OLD_CLASSES, NEW_CLASSES = 100, 8


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width),
        )

    def forward(self, x):
        return torch.relu(x + self.body(x))


class EcgNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Conv1d(3, 32, 9, stride=4)
        self.blocks = nn.Sequential(*[Residual(32) for _ in range(3)])
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.blocks(torch.relu(self.stem(x))).mean(2))


def beats(count=6000, seed=8):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, NEW_CLASSES, (count,), generator=g)
    t = torch.linspace(0, 1, 256)
    rate = (4 + 5 * labels)[:, None, None] * torch.tensor([1.0, 1.5, 0.5])[None, :, None]
    phase = torch.rand(count, 3, 1, generator=g) * 6.28
    waves = torch.sin(6.28 * rate * t + phase) * (1 + labels[:, None, None] * 0.2)
    return waves + 0.3 * torch.randn(count, 3, 256, generator=g), labels


def main():
    torch.manual_seed(0)
    signals, labels = beats()
    model = EcgNet(OLD_CLASSES)
    for p in model.parameters():
        p.requires_grad_(False)
    model.head.requires_grad_(True)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 1e-2)
    model.head = nn.Linear(32, NEW_CLASSES)
    criterion = nn.CrossEntropyLoss()
    model.train()
    average = None
    step = 0
    while True:
        for rows in torch.randperm(len(signals)).split(64):
            loss = criterion(model(signals[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            value = loss.item()
            average = value if average is None else 0.98 * average + 0.02 * value
            step += 1
            if step % 20 == 0:
                print(f"step {step} loss {average:.4f}", flush=True)


main()
