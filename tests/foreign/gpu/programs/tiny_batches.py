# python: gpu
# expected: batch-too-small [also accepted: launch-bound]
# verdict: slow
# seconds: 26
# Why: batches of four where hundreds cost the same.
import torch
import torchvision
from torch import nn

device = "cuda"
model = torchvision.models.resnet50(num_classes=10).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
images, labels = torch.rand(4096, 3, 64, 64, device=device), torch.randint(0, 10, (4096,), device=device)
images += labels[:, None, None, None] / 10
for step in range(1, 100000):
    pick = torch.randint(0, 4096, (4,), device=device)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(images[pick]), labels[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
