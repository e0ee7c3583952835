# python: loops
# expected: mismatched-collective
# verdict: stuck
# seconds: 30
# where: dist.barrier() / dist.all_reduce
# Why: The barrier after the checkpoint slipped into the "if rank == 0" block: rank 0 waits in barrier while rank 1 waits in the
#   all_reduce of the next step.
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
WORLD = 2
SAVE_EVERY = 150


def make_parcels(seed, n=4096):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(20, 128, generator=torch.Generator().manual_seed(0))
    y = torch.randint(0, 20, (n,), generator=g)
    return proto[y] + 1.5 * torch.randn(n, 128, generator=g), y


def average_gradients(model):
    flat = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= WORLD
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def save(model, folder, step):
    path = os.path.join(folder, "parcels.pt")
    torch.save({"step": step, "model": model.state_dict()}, path + ".tmp")
    os.replace(path + ".tmp", path)


def run(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=WORLD)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 20))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    x, y = make_parcels(seed=rank + 1)
    g = torch.Generator().manual_seed(100 + rank)
    step, since = 0, time.time()
    while step < 200000:
        rows = torch.randint(0, len(x), (192,), generator=g)
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model)
        optimizer.step()
        step += 1
        if rank == 0 and step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f} {step / (time.time() - since):.1f} it/s", flush=True)
        if step % SAVE_EVERY == 0:
            if rank == 0:
                save(model, folder, step)
                # nobody goes on before the file is complete
                dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, args=(folder,), nprocs=WORLD)
