# python: gpu
# expected: input-bound [also accepted: no-prefetch, hot-line, dataloader-workers]
# verdict: slow
# seconds: 26
# Why: each sample is made by NumPy in the main process (num_workers=0) while the GPU idles.
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        lines = np.zeros(4096, np.float32)
        kind = index % 5
        for centre in rng.uniform(0, 4096, 20 + 10 * kind):
            lines += np.exp(-((np.arange(4096) - centre) / 8) ** 2).astype(np.float32)
        return torch.from_numpy(lines), kind


device = "cuda"
model = nn.Sequential(nn.Linear(4096, 2048), nn.ReLU(), nn.Linear(2048, 5)).to(device)
optimizer = torch.optim.Adam(model.parameters(), 1e-4)
step = 0
for epoch in range(100):
    for x, y in DataLoader(Spectra(), batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
