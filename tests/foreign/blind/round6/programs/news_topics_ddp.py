# python: loops
# expected: mismatched-collective
# verdict: stuck
# seconds: 30
# where: dist.barrier() / loss.backward()
# Why: rank 0 calls barrier() after it wrote the checkpoint, inside "if rank == 0"; rank 1 is already in the gradients' all-reduce
#   of the next step. Both wait for ever.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

WORLD = 2
TOPICS = 20
VOCAB = 20000


class TopicModel(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.layers = nn.Sequential(nn.Linear(dim, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, TOPICS))

    def forward(self, ids):
        return self.layers(self.words(ids))


def articles(rank, n=8000, words=120):
    g = torch.Generator().manual_seed(100 + rank)
    topic = torch.randint(0, TOPICS, (n,), generator=g)
    ids = torch.randint(0, VOCAB, (n, words), generator=g)
    own = torch.randint(0, 200, (n, words), generator=g) + topic[:, None] * 200
    ids = torch.where(torch.rand(n, words, generator=g) < 0.1, own, ids)
    return ids, topic


def work(rank, port, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DDP(TopicModel())
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    ids, topic = articles(rank)
    g = torch.Generator().manual_seed(rank)
    for step in range(1, 1000001):
        pick = torch.randint(0, len(ids), (64,), generator=g)
        loss = nn.functional.cross_entropy(model(ids[pick]), topic[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
        if step % 60 == 0:
            if rank == 0:
                torch.save(model.module.state_dict(), os.path.join(folder, "latest.pt"))
                dist.barrier()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    target = tempfile.mkdtemp(prefix="topics_")
    mp.spawn(work, args=(free_port(), target), nprocs=WORLD)
