# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two gloo ranks with one thread each and equal shards; rank 0 checks held-out data and saves now and then while rank 1 waits at
# the barrier for a moment, and the loss is noisy; all of it costs next to nothing.
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def crossings(n, seed):
    """Strips of a harbour camera turned into 1-d signals; how full the ferry will be, in five grades."""
    g = torch.Generator().manual_seed(seed)
    grade = torch.randint(0, 5, (n,), generator=g)
    t = torch.linspace(0, 1, 128)[None, None]
    freq = (2.0 + 1.5 * grade.float())[:, None, None] * torch.tensor([1.0, 1.6, 2.3, 3.1])[None, :, None]
    phase = 6.28 * torch.rand(n, 4, 1, generator=g)
    x = torch.sin(6.28 * freq * t + phase) + 1.3 * torch.randn(n, 4, 128, generator=g)
    flip = torch.rand(n, generator=g) < 0.15
    grade[flip] = torch.randint(0, 5, (int(flip.sum()),), generator=g)
    return TensorDataset(x, grade)


def network():
    def part(a, b, stride):
        return nn.Sequential(nn.Conv1d(a, b, 7, stride=stride, padding=3), nn.GroupNorm(8, b), nn.ReLU())
    return nn.Sequential(
        part(4, 64, 1), part(64, 128, 2), part(128, 128, 1), part(128, 128, 2),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, 5),
    )


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    x, y = data.tensors
    right = sum((model(a).argmax(1) == b).sum().item() for a, b in zip(x.split(100), y.split(100)))
    model.train()
    return right / len(y)


def worker(rank, world, folder):
    torch.set_num_threads(1)
    torch.manual_seed(100)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    data, held = crossings(4096, 1), crossings(200, 2)
    sampler = DistributedSampler(data, world, rank, shuffle=True, drop_last=True)
    loader = DataLoader(data, batch_size=32, sampler=sampler, drop_last=True)
    model = nn.parallel.DistributedDataParallel(network())
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-4)
    step, began = 0, time.time()
    for epoch in range(300):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} t={time.time() - began:.1f}", flush=True)
        if rank == 0:
            print(f"epoch {epoch} held-out accuracy {accuracy(model.module, held):.3f}", flush=True)
            torch.save(model.module.state_dict(), os.path.join(folder, "ferry.pt"))
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    mp.spawn(worker, args=(2, tempfile.mkdtemp(prefix="ferry")), nprocs=2)
