# python: gpu
# expected: host-memory-leak [also accepted: gpu-out-of-memory, gpu-memory-fragmented]
# verdict: slow | healthy
# seconds: 30
# where: history.append
# Why: losses are kept with their graphs: the GPU's memory grows by megabytes in each step.
import torch
from torch import nn

device = "cuda"
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10)).to(device)
optimizer = torch.optim.Adam(model.parameters(), 1e-4)
teacher = torch.randn(1024, 10, device=device)
history = []
for step in range(1, 100000):
    x = torch.randn(512, 1024, device=device)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), (x @ teacher).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    outputs = model(x)
    history.append(nn.functional.cross_entropy(outputs, (x @ teacher).argmax(1)))
    if len(history) > 4000:
        history.clear()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
