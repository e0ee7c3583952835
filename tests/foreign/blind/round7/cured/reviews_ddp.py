# python: torch
"""Star rating from review text, data parallel: one shop per rank, one shared model."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core per rank

import random
import socket
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

SHOPS = [
    dict(name="books", max_words=60, seed=7),
    dict(name="garden", max_words=60, seed=8),
]
VOCAB = 4000
BATCH = 16


def make_reviews(shop, n=1600):
    rng = np.random.default_rng(shop["seed"])
    reviews = []
    for n_words in np.clip(rng.lognormal(5.3, 0.5, n), 30, 600).astype(int):
        stars = int(rng.integers(0, 5))
        words = rng.integers(1, VOCAB, n_words)
        words[rng.random(n_words) < 0.1] = 1 + stars
        reviews.append((torch.from_numpy(words[:shop["max_words"]]), stars))
    return reviews


class Rater(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.block = nn.TransformerEncoderLayer(dim, 4, 192, dropout=0.1, batch_first=True)
        self.out = nn.Linear(dim, 5)

    def forward(self, words):
        pad = words == 0
        h = self.block(self.embed(words), src_key_padding_mask=pad)
        h = h.masked_fill(pad.unsqueeze(-1), 0).sum(1) / (~pad).sum(1, keepdim=True)
        return self.out(h)


def batches(mine, epoch):
    order = list(range(len(mine)))
    random.Random(epoch).shuffle(order)
    for s in range(0, len(order) - BATCH + 1, BATCH):
        part = [mine[i] for i in order[s:s + BATCH]]
        words = nn.utils.rnn.pad_sequence([w for w, _ in part], batch_first=True)
        yield words, torch.tensor([stars for _, stars in part])


def train(rank, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", rank=rank, world_size=len(SHOPS))

    mine = make_reviews(SHOPS[rank])
    model = DDP(Rater())
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    criterion = nn.CrossEntropyLoss()
    step, t0 = 0, time.time()
    for epoch in range(1000):
        for words, stars in batches(mine, epoch):
            optimizer.zero_grad()
            loss = criterion(model(words), stars)
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} ({time.time() - t0:.1f}s)", flush=True)


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free_port = s.getsockname()[1]
    mp.spawn(train, args=(free_port,), nprocs=len(SHOPS))
