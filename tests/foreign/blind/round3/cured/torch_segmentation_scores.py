# python: torch
# expected: host-memory-leak [also accepted: step-time-grows]
# verdict: healthy|slow
# seconds: 35
# env: OMP_WAIT_POLICY=PASSIVE
# where: scores.append / history
# Why: the score maps of every training batch are kept to compute the IoU curve at the end of the epoch; the epoch is long and each map is a
# full-size float tensor, so memory grows with every step until the kernel ends the run.
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(os.cpu_count())
CLASSES, SIDE, BATCH = 5, 64, 8
STEPS_PER_EPOCH = 20000


def scene(n):
    coarse = torch.randn(n, CLASSES, 6, 6)
    mask = F.interpolate(coarse, size=(SIDE, SIDE), mode="bilinear", align_corners=False).argmax(1)
    colors = torch.linspace(0, 1, CLASSES)
    image = colors[mask][:, None].repeat(1, 3, 1, 1) + 0.2 * torch.randn(n, 3, SIDE, SIDE)
    return image, mask


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1 = nn.Conv2d(3, 24, 3, padding=1)
        self.enc2 = nn.Conv2d(24, 64, 3, stride=2, padding=1)
        self.enc3 = nn.Conv2d(64, 64, 3, padding=1)
        self.enc4 = nn.Conv2d(64, 64, 3, padding=1)
        self.out = nn.Conv2d(88, CLASSES, 1)

    def forward(self, x):
        a = F.relu(self.enc1(x))
        b = F.relu(self.enc4(F.relu(self.enc3(F.relu(self.enc2(a))))))
        b = F.interpolate(b, scale_factor=2.0, mode="nearest")
        return self.out(torch.cat([a, b], dim=1))


class IoUCurve:
    def __init__(self):
        self.inter, self.union = torch.zeros(CLASSES), torch.zeros(CLASSES)

    def update(self, logits, mask):
        pred = logits.argmax(1)
        for c in range(CLASSES):
            self.inter[c] += ((pred == c) & (mask == c)).sum()
            self.union[c] += ((pred == c) | (mask == c)).sum()

    def compute(self):
        return (self.inter / self.union.clamp(min=1)).mean().item()


pool_x, pool_y = scene(256)
net = SegNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    metric = IoUCurve()
    for step in range(1, STEPS_PER_EPOCH + 1):
        pick = torch.randint(0, len(pool_x), (BATCH,))
        image, mask = pool_x[pick], pool_y[pick]
        logits = net(image)
        loss = F.cross_entropy(logits, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metric.update(logits, mask)
        if step % 10 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
    print(f"epoch {epoch} mean IoU {metric.compute():.4f}", flush=True)
