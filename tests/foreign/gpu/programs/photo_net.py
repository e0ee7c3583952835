# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 26
# Why: a large network in bfloat16 on batches that lie on the GPU: it is busy all the time.
import torch
import torchvision
from torch import nn

device = "cuda"
model = torchvision.models.resnet50(num_classes=10).to(device).to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
images = torch.rand(1024, 3, 224, 224, device=device)
labels = torch.randint(0, 10, (1024,), device=device)
images += labels[:, None, None, None] / 10
for step in range(1, 100000):
    at = (step * 256) % 1024
    x = images[at:at + 256].contiguous(memory_format=torch.channels_last)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), labels[at:at + 256])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
