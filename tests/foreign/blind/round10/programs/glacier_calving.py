# python: torch
# expected: straggler
# verdict: slow
# seconds: 25
# Why: the records are sorted by length and cut into one piece per rank: rank 1 holds all the long ones, and rank 0 waits for it
# in every all_reduce.
"""Calving volume from seismic event records of very different lengths; gradients averaged over two processes."""
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WORLD, BATCH = 2, 16


def draw_records(n=960, seed=5):
    g = torch.Generator().manual_seed(seed)
    lengths = torch.exp(3.7 + 1.8 * torch.randn(n, generator=g)).clamp(8, 800).long()
    records = []
    for k in lengths.tolist():
        x = torch.randn(k, 6, generator=g).cumsum(0) / 8
        volume = x[:, 0].abs().mean() + 0.5 * x[:, 1].max() - 0.3 * x[-1, 2]
        records.append((x, volume))
    return records


def batches_of(rank, records):
    """Records of similar length share a batch, so that little of it is padding."""
    order = sorted(range(len(records)), key=lambda i: len(records[i][0]))
    share = len(order) // WORLD
    mine = order[rank * share:(rank + 1) * share]
    return [mine[i:i + BATCH] for i in range(0, len(mine), BATCH)]


class CalvingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 128, batch_first=True)
        self.head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x, lengths):
        out, _ = self.gru(x)
        mask = (torch.arange(x.shape[1])[None, :] < lengths[:, None]).unsqueeze(-1)
        pooled = (out * mask).sum(1) / lengths[:, None]
        return self.head(pooled).squeeze(1)


def average_gradients(model):
    flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= WORLD
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def worker(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    records = draw_records()
    batches = batches_of(rank, records)
    model = CalvingNet()
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    began, step = time.time(), 0
    for epoch in range(500):
        order = torch.randperm(len(batches), generator=torch.Generator().manual_seed(epoch)).tolist()
        for b in order:
            rows = [records[i] for i in batches[b]]
            lengths = torch.tensor([len(x) for x, _ in rows])
            x = nn.utils.rnn.pad_sequence([x for x, _ in rows], batch_first=True)
            y = torch.stack([v for _, v in rows])
            loss = nn.functional.smooth_l1_loss(model(x, lengths), y)
            opt.zero_grad()
            loss.backward()
            average_gradients(model)
            opt.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} {step / (time.time() - began):.2f} steps/s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.spawn(worker, args=(free,), nprocs=WORLD)
