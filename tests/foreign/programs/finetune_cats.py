# python: torch
# expected: dataloader-workers [also accepted: thread-oversubscription, decode-saturated, input-bound]
# verdict: slow
# seconds: 18
# Why: 24 workers that all decode on 2 cores: each waits for a core most of the time. (A machine with 24 cores or more
# would be glad of them: the runner skips it there.)
# most-cores: 8
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

import make_files


class Cats(Dataset):
    def __init__(self, paths):
        self.paths = paths * 50

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = Image.open(self.paths[index]).convert("RGB").resize((96, 96), Image.BICUBIC)
        return torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255.0, index % 10


def main():
    loader = DataLoader(Cats(make_files.photos(300, 640, 480)), batch_size=16, shuffle=True, num_workers=24)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(100):
        for step, (images, labels) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} step {step}/{len(loader)} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
