# python: gpu
# expected: upload-bound
# verdict: slow
# seconds: 26
# where: to(device)
# Why: batches of float32 pixels lie in pageable memory and are copied before each step.
import torch
import torchvision
from torch import nn

device = "cuda"
model = torchvision.models.resnet18(num_classes=10).to(device).to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
images = torch.rand(2048, 3, 224, 224)
labels = torch.randint(0, 10, (2048,))
images += labels[:, None, None, None] / 10
for step in range(1, 100000):
    at = (step * 256) % 2048
    x, y = images[at:at + 256].to(device), labels[at:at + 256].to(device)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x.contiguous(memory_format=torch.channels_last)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
