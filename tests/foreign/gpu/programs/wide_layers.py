# python: gpu
# expected: no-mixed-precision
# verdict: slow
# seconds: 26
# Why: products of large matrices in float32 without TF32: the tensor cores are never used.
import torch
from torch import nn

device = "cuda"
model = nn.Sequential(*[nn.Sequential(nn.LayerNorm(4096), nn.Linear(4096, 4096), nn.ReLU()) for _ in range(8)], nn.Linear(4096, 100)).to(device)
optimizer = torch.optim.Adam(model.parameters(), 1e-5)
teacher = torch.randn(4096, 100, device=device)
base = torch.randn(512, 4096, device=device)
for step in range(1, 100000):
    x = base[torch.randint(0, 512, (2048,), device=device)]
    loss = nn.functional.cross_entropy(model(x), (x @ teacher).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
