# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two ranks that meet in every step, a noisy loss (a tenth of the labels is wrong), validation with an all_reduce after every epoch and
# a checkpoint by rank 0 behind a barrier; all of it is small beside the convolutions, and both ranks have the same work.
"""Coral cover classes in mosaic patches: DistributedDataParallel over two CPU processes."""
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

CLASSES = 5


class Patches(Dataset):
    def __init__(self, n, seed, wrong=0.0):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, CLASSES, (n,), generator=g)
        base = torch.randn(CLASSES, 3, 8, 8, generator=torch.Generator().manual_seed(1))
        pattern = nn.functional.interpolate(base, size=40, mode="bilinear", align_corners=False)
        self.x = 0.5 * pattern[self.y] + torch.randn(n, 3, 40, 40, generator=g)
        flip = torch.rand(n, generator=g) < wrong
        self.y[flip] = torch.randint(0, CLASSES, (int(flip.sum()),), generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def reef_net():
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(192, CLASSES),
    )


@torch.no_grad()
def validate(model, loader):
    model.eval()
    count = torch.zeros(2)
    for x, y in loader:
        count += torch.tensor([(model(x).argmax(1) == y).sum().item(), len(y)])
    dist.all_reduce(count)
    model.train()
    return (count[0] / count[1]).item()


def main(rank, world, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = Patches(1600, seed=10, wrong=0.1), Patches(320, seed=20)
    sampler = DistributedSampler(train_set, world, rank, shuffle=True, drop_last=True)
    train = DataLoader(train_set, batch_size=20, sampler=sampler, drop_last=True)
    val = DataLoader(val_set, batch_size=40, sampler=DistributedSampler(val_set, world, rank, shuffle=False))
    net = DistributedDataParallel(reef_net())
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    step, began = 0, time.time()
    for epoch in range(300):
        sampler.set_epoch(epoch)
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if rank == 0 and step % 4 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} ({step / (time.time() - began):.1f} steps/s)", flush=True)
        accuracy = validate(net.module, val)
        if rank == 0:
            print(f"epoch {epoch} validation accuracy {accuracy:.3f}", flush=True)
            torch.save(net.module.state_dict(), os.path.join(folder, "reef.pt"))
        dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, args=(2, folder), nprocs=2)
