# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 30
# where: enumerate(loader / DataLoader( / num_workers
# Why: A small collection of thumbnails with 32 workers on two cores: every epoch of 9 batches starts 32 processes and ends them again.
import argparse
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

SPECIES = ["apple", "pear", "plum", "cherry", "quince"]


def write_photos(folder, per_class):
    rng = np.random.default_rng(4)
    for label, name in enumerate(SPECIES):
        for k in range(per_class):
            small = rng.integers(0, 255, (14, 14, 3), dtype=np.uint8)
            small[:, :, label % 3] = np.clip(small[:, :, label % 3].astype(int) + 40 * label, 0, 255)
            photo = Image.fromarray(small).resize((96, 96), Image.BICUBIC)
            photo.save(os.path.join(folder, f"{name}_{k:03d}.jpg"), quality=88)


class LeafPhotos(Dataset):
    def __init__(self, folder, size=56):
        self.files = sorted(os.path.join(folder, f) for f in os.listdir(folder))
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path = self.files[i % len(self.files)]
        img = Image.open(path).convert("RGB")
        img = img.rotate(np.random.uniform(-25, 25), resample=Image.BILINEAR)
        left, top = np.random.randint(0, 16, 2)
        img = img.crop((left, top, left + 80, top + 80)).resize((self.size, self.size), Image.BICUBIC)
        x = torch.from_numpy(np.asarray(img, dtype=np.float32).transpose(2, 0, 1) / 127.5 - 1.0)
        y = SPECIES.index(os.path.basename(path).split("_")[0])
        return x, y


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=3000)
    ap.add_argument("--num-workers", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        write_photos(folder, 26)
        loader = DataLoader(LeafPhotos(folder), batch_size=args.batch_size, shuffle=True, num_workers=args.num_workers)
        net = nn.Sequential(block(3, 12), block(12, 24), block(24, 64), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(SPECIES)))
        opt = torch.optim.Adam(net.parameters(), lr=args.lr)
        criterion = nn.CrossEntropyLoss()
        begin, images = time.time(), 0
        for epoch in range(args.epochs):
            for step, (x, y) in enumerate(loader, 1):
                logits = net(x)
                loss = criterion(logits, y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                images += len(x)
                if step % 3 == 0:
                    acc = (logits.argmax(1) == y).float().mean().item()
                    print(f"epoch {epoch} step {step}/{len(loader)} loss {loss.item():.4f} acc {acc:.2f} "
                          f"({images / (time.time() - begin):.1f} img/s)", flush=True)


if __name__ == "__main__":
    main()
