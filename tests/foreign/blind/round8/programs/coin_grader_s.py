# python: torch
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: healthy|slow
# seconds: 30
# where: model.head = nn.Linear / torch.optim.Adam / optimizer.step
# Why: The optimizer is made for the old head; the head is replaced for ten grades afterwards and never moves, so the loss stays at ln(10).
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Coins(Dataset):
    """Photographs of coins; the grade shows in wear (contrast) and rim width."""

    def __init__(self, n, grades):
        g = torch.Generator().manual_seed(21)
        self.grades = torch.randint(0, grades, (n,), generator=g)
        self.noise = torch.randint(0, 2 ** 31 - 1, (n,), generator=g)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, 48), torch.linspace(-1, 1, 48), indexing="ij")
        self.radius = (yy ** 2 + xx ** 2).sqrt()

    def __len__(self):
        return len(self.grades)

    def __getitem__(self, i):
        grade = int(self.grades[i])
        g = torch.Generator().manual_seed(int(self.noise[i]))
        disc = (self.radius < 0.9).float() * (0.3 + 0.06 * grade)
        rim = ((self.radius - 0.8).abs() < 0.02 + 0.012 * grade).float()
        image = disc + 0.4 * rim + 0.1 * torch.randn(48, 48, generator=g)
        return image.clamp(0, 1).unsqueeze(0), grade


class CoinNet(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
            nn.LayerNorm(1024))
        self.head = nn.Linear(1024, outputs)

    def forward(self, x):
        return self.head(self.features(x))


torch.manual_seed(4)
GRADES = 10

model = CoinNet(outputs=1000)
for p in model.features.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-3)
model.head = nn.Linear(1024, GRADES)

loader = DataLoader(Coins(6000, GRADES), batch_size=64, shuffle=True, num_workers=1, drop_last=True)
criterion = nn.CrossEntropyLoss()

step = 0
for epoch in range(1, 1000):
    seen = hits = 0
    for images, grades in loader:
        optimizer.zero_grad()
        logits = model(images)
        loss = criterion(logits, grades)
        loss.backward()
        optimizer.step()
        step += 1
        seen += len(grades)
        hits += (logits.argmax(1) == grades).sum().item()
        if step % 10 == 0:
            print("Epoch %d, step %d: loss = %.4f, accuracy = %.3f" % (epoch, step, loss.item(), hits / seen), flush=True)
