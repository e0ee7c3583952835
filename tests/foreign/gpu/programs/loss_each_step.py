# python: gpu
# expected: healthy [also accepted: no-mixed-precision]
# verdict: healthy | slow
# seconds: 26
# Why: the loss is read in every step, but a step keeps the GPU busy for a long time: next to nothing is lost.
import torch
from torch import nn

device = "cuda"
model = nn.Sequential(*[nn.Sequential(nn.LayerNorm(4096), nn.Linear(4096, 4096), nn.ReLU()) for _ in range(8)], nn.Linear(4096, 100)).to(device)
optimizer = torch.optim.Adam(model.parameters(), 1e-5)
teacher = torch.randn(4096, 100, device=device)
base = torch.randn(512, 4096, device=device)
for step in range(1, 100000):
    x = base[torch.randint(0, 512, (2048,), device=device)]
    y = (x @ teacher).argmax(1)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
