# python: torch
# expected: healthy
# verdict: healthy
# seconds: 20
# how: attach
# Why: two workers decode, the model is heavier than the decoding: the loader is ahead all the time.
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

import make_files


class Fruit(Dataset):
    def __init__(self, paths):
        self.paths = paths * 20

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = Image.open(self.paths[index]).resize((64, 64))
        return torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255.0, index % 10


def main():
    loader = DataLoader(Fruit(make_files.photos(200, 160, 120)), batch_size=32, shuffle=True, num_workers=2,
                        persistent_workers=True)
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(64, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(100):
        for step, (images, labels) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} step {step}/{len(loader)} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
