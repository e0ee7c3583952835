"""Dialect recognition from feature frames: GRU, DistributedDataParallel on two CPU processes (gloo)."""
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

WORLD = 2
MELS, DIALECTS = 40, 8


def corpus(n=6000):
    """Utterances as (length, dialect, seed), shortest first, as the index file of the corpus has them."""
    g = torch.Generator().manual_seed(7)
    lengths = torch.exp(torch.randn(n, generator=g) * 1.4 + 3.4).clamp(6, 900).int()
    dialects = torch.randint(DIALECTS, (n,), generator=g)
    index = sorted(zip(lengths.tolist(), dialects.tolist(), range(n)))
    tones = torch.randn(DIALECTS, MELS, generator=g)
    return index, tones


def load_batch(rows, tones):
    frames = max(r[0] for r in rows)
    x = torch.zeros(len(rows), frames, MELS)
    for i, (length, dialect, seed) in enumerate(rows):
        noise = torch.randn(length, MELS, generator=torch.Generator().manual_seed(seed))
        x[i, :length] = 0.5 * tones[dialect] + noise
    y = torch.tensor([r[1] for r in rows])
    lengths = torch.tensor([r[0] for r in rows])
    return x, lengths, y


class DialectNet(nn.Module):
    def __init__(self, hidden=112):
        super().__init__()
        self.rnn = nn.GRU(MELS, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, DIALECTS)

    def forward(self, x, lengths):
        out, _ = self.rnn(x)
        mask = (torch.arange(x.shape[1])[None] < lengths[:, None]).float()
        pooled = (out * mask[..., None]).sum(1) / lengths[:, None]
        return self.head(pooled)


def worker(rank, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)

    index, tones = corpus()
    mine = index[rank::WORLD]
    batch = 16
    groups = [mine[i:i + batch] for i in range(0, len(mine) - batch + 1, batch)]

    model = DDP(DialectNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step, begun = 0, time.time()
    for epoch in range(100):
        order = torch.randperm(len(groups), generator=torch.Generator().manual_seed(epoch)).tolist()
        for g in order:
            x, lengths, y = load_batch(groups[g], tones)
            loss = nn.functional.cross_entropy(model(x, lengths), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                rate = step / (time.time() - begun)
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} ({rate:.1f} steps/s)", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free_port = s.getsockname()[1]
    mp.spawn(worker, args=(free_port,), nprocs=WORLD)
