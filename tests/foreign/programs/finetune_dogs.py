# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 18
# how: attach
# where: Image.open / resize / np.asarray
# Why: num_workers is left at 0: the training loop itself decodes, picture by picture.
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

import make_files


class Dogs(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = Image.open(self.paths[index]).convert("RGB").resize((128, 128), Image.BICUBIC)
        pixels = np.asarray(image, np.float32) / 255.0
        return torch.from_numpy(pixels).permute(2, 0, 1), index % 10


loader = DataLoader(Dogs(make_files.photos(300, 1024, 768)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for epoch in range(100):
    for step, (images, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"epoch {epoch} step {step}/{len(loader)} loss {loss.item():.4f}", flush=True)
