# python: gpu
# expected: sync-every-step [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: .item()
# Why: three numbers of each of some two hundred weights are read with .item() at every step; each read waits for the GPU, which
# then has nothing queued.
"""A small language model for chess games in notation; watches its weights and gradients on the way."""
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_float32_matmul_precision("high")
device = "cuda" if torch.cuda.is_available() else "cpu"
VOCAB, WIDTH, HEADS, DEPTH = 2048, 512, 8, 16
BATCH, LENGTH = 32, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        n, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(n, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.moves = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, moves):
        x = self.moves(moves) + self.places.weight[: moves.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def draw_games(openings):
    """Each game follows one of the openings and returns to it, with a few moves of its own."""
    games = openings[torch.randint(len(openings), (BATCH,), device=device)]
    own = torch.randint(VOCAB, games.shape, device=device)
    return torch.where(torch.rand(games.shape, device=device) < 0.1, own, games)


def watch(model):
    seen = {}
    for name, weight in model.named_parameters():
        grad = weight.grad
        seen[name] = (weight.detach().norm().item(), grad.norm().item(), grad.abs().max().item())
    return seen


def main():
    torch.manual_seed(4)
    openings = torch.randint(VOCAB, (512, LENGTH + 1), device=device)
    model = Model().to(device)
    for block in model.blocks:
        block.compile()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=device == "cuda")
    began = time.time()
    for step in range(1, 1_000_001):
        games = draw_games(openings)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(games[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1).float(), games[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        seen = watch(model)
        optimizer.step()
        if step % 10 == 0:
            name = max(seen, key=lambda one: seen[one][1])
            print(f"step {step} loss {loss.item():.4f} largest gradient {seen[name][1]:.3f} in {name} "
                  f"t {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
