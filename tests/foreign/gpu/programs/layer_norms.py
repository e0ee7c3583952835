# python: gpu
# expected: sync-every-step
# verdict: slow
# seconds: 26
# where: .item()
# Why: the norm of each layer's output is read back, in every step: the queue runs empty twelve times in a step.
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda"
blocks = nn.ModuleList(nn.TransformerEncoderLayer(512, 8, 1024, batch_first=True) for _ in range(12)).to(device)
head = nn.Linear(512, 10).to(device)
optimizer = torch.optim.AdamW([*blocks.parameters(), *head.parameters()], 1e-4)
centres = torch.randn(10, 512, device=device)
seen = {}
for step in range(1, 100000):
    labels = torch.randint(0, 10, (64,), device=device)
    x = centres[labels][:, None, :] + torch.randn(64, 64, 512, device=device)
    for index, block in enumerate(blocks):
        x = block(x)
        seen[index] = x.norm().item()
    loss = nn.functional.cross_entropy(head(x.mean(1)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f} norm {seen[0]:.1f}", flush=True)
