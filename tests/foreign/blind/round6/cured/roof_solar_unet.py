# python: torch
# expected: host-memory-leak
# verdict: healthy|slow
# seconds: 40
# where: self.maps.append
# Why: a forward hook keeps the inner maps of every step for a picture that needs only the last one; about 1.5 MB stays per step.
import logging
import os
import tempfile

import numpy as np
import torch
from PIL import Image
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("roofs")


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class RoofUNet(nn.Module):
    def __init__(self, base=12):
        super().__init__()
        self.down1 = block(3, base)
        self.down2 = block(base, base * 2)
        self.mid = block(base * 2, base * 5)
        self.up2 = block(base * 5 + base * 2, base * 2)
        self.up1 = block(base * 2 + base, base)
        self.head = nn.Conv2d(base, 1, 1)
        self.pool = nn.MaxPool2d(2)
        self.grow = nn.Upsample(scale_factor=2)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.mid(self.pool(b))
        b = self.up2(torch.cat([self.grow(c), b], 1))
        a = self.up1(torch.cat([self.grow(b), a], 1))
        return self.head(a)


class Inspector:
    """Looks into the net and writes what it sees as a picture."""

    def __init__(self, layer, folder):
        self.maps = []
        self.folder = folder
        layer.register_forward_hook(self.look)

    def look(self, module, inputs, output):
        self.maps = [output.detach().clone()]

    def write(self, step):
        plane = self.maps[-1][0].mean(0).numpy()
        plane = (255 * (plane - plane.min()) / (np.ptp(plane) + 1e-6)).astype(np.uint8)
        Image.fromarray(plane).resize((128, 128)).save(os.path.join(self.folder, f"inner_{step:06d}.png"))


def aerial(count, size=64, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.4, 0.1, (count, 3, size, size)).astype(np.float32)
    y = np.zeros((count, 1, size, size), np.float32)
    for k in range(count):
        for _ in range(rng.integers(1, 5)):
            r, c = rng.integers(0, size - 16, 2)
            h, w = rng.integers(6, 16, 2)
            x[k, 2, r:r + h, c:c + w] += 0.25
            y[k, 0, r:r + h, c:c + w] = 1
    return torch.from_numpy(x), torch.from_numpy(y)


torch.manual_seed(3)
images, masks = aerial(512)
net = RoofUNet()
folder = tempfile.mkdtemp(prefix="roofs_")
inspector = Inspector(net.down2, folder)
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()

for step in range(1, 200001):
    pick = torch.randint(0, len(images), (16,))
    loss = criterion(net(images[pick]), masks[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        log.info("step %d bce %.4f", step, loss.item())
    if step % 500 == 0:
        inspector.write(step)
