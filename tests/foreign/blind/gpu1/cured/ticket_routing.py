# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 30
"""Route support tickets to one of forty desks."""
import time

import numpy as np
import torch
import torch._dynamo
import torch.nn.functional as F
from torch import nn

torch._dynamo.config.cache_size_limit = 512
torch.set_float32_matmul_precision("high")
device = "cuda" if torch.cuda.is_available() else "cpu"
VOCAB, DESKS, WIDTH, HEADS = 16000, 40, 512, 8
LONGEST, BATCH = 1024, 32
rng = np.random.default_rng()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        n, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class Router(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH, padding_idx=0)
        self.places = nn.Parameter(torch.randn(LONGEST, WIDTH) * 0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(depth))
        self.head = nn.Linear(WIDTH, DESKS)

    def forward(self, words, desks):
        x = self.words(words) + self.places[: words.shape[1]]
        for block in self.blocks:
            x = block(x)
        known = (words != 0)[..., None]
        pooled = (x * known).sum(1) / known.sum(1)
        return F.cross_entropy(self.head(pooled).float(), desks)


def draw_tickets():
    """Tickets of about the same length are put into one batch."""
    length = int(rng.integers(64, LONGEST + 1))
    desks = torch.randint(DESKS, (BATCH,), device=device)
    words = torch.randint(1, VOCAB, (BATCH, length), device=device)
    jargon = 1 + desks[:, None] * 50 + torch.randint(50, (BATCH, length), device=device)
    words = torch.where(torch.rand(BATCH, length, device=device) < 0.15, jargon, words)
    return F.pad(words, (0, LONGEST - length)), desks


def main():
    model = Router().to(device)
    fast = torch.compile(model, dynamic=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    began = time.time()
    for step in range(1, 100_001):
        words, desks = draw_tickets()
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = fast(words, desks)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f} words {words.shape[1]} t {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
