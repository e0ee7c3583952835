# python: gpu
# expected: retracing [also accepted: autotune-varying-shapes]
# verdict: slow
# seconds: 30
# Why: torch.compile with dynamic=False compiles again for each length of a batch.
import torch
from torch import nn

device = "cuda"
torch._dynamo.config.cache_size_limit = 1000
layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), 2).to(device)
head = nn.Linear(128, 4).to(device)
forward = torch.compile(lambda x: head(layer(x).mean(1)), dynamic=False)
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], 1e-3)
for step in range(1, 100000):
    length = 16 + step % 400
    y = torch.randint(0, 4, (32,), device=device)
    x = torch.randn(32, length, 128, device=device) + y[:, None, None]
    loss = nn.functional.cross_entropy(forward(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
