"""What PyTorch does with one GPU: ResNet-50 in bfloat16 on synthetic batches (the limit) and fed by its DataLoader.

    resnet50_gpu.py IMAGES [--batch 256] [--workers 16] [--seconds 20]

Compare with `headway train --data IMAGES --model resnet50 --augment --batch 256 --precision bfloat16 --device cuda`.
Prints one JSON object with images per second.
"""

import argparse
import json
import time

import torch
import torchvision
from torchvision import transforms


def trainer(classes):
    net = torchvision.models.resnet50(num_classes=classes).cuda().to(memory_format=torch.channels_last)
    adam = torch.optim.Adam(net.parameters(), fused=True)
    loss_of = torch.nn.CrossEntropyLoss()

    def step(x, y):
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(net(x), y)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()

    return step


def timed(batches, step, seconds):
    """Images per second once warm; `batches` never ends."""
    images, began = 0, None
    for i, (x, y) in enumerate(batches):
        step(x, y)
        if i == 9:
            torch.cuda.synchronize()
            began, images = time.perf_counter(), 0
        elif began:
            images += len(y)
            if time.perf_counter() - began > seconds:
                break
    torch.cuda.synchronize()
    return images / (time.perf_counter() - began)


def fed(loader):
    while True:
        for x, y in loader:
            yield (x.cuda(non_blocking=True).to(memory_format=torch.channels_last), y.cuda(non_blocking=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("images")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20)
    o = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    chain = transforms.Compose([transforms.RandomResizedCrop(224, (0.3, 1)), transforms.RandomHorizontalFlip(),
                                transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])
    folder = torchvision.datasets.ImageFolder(o.images, chain)
    loader = torch.utils.data.DataLoader(folder, o.batch, shuffle=True, num_workers=o.workers, pin_memory=True,
                                         drop_last=True, persistent_workers=True)
    x = torch.randn(o.batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(len(folder.classes), (o.batch,), device="cuda")
    synthetic = timed(((x, y) for _ in iter(int, 1)), trainer(len(folder.classes)), o.seconds / 2)
    print(json.dumps({"pytorch": torch.__version__, "synthetic": round(synthetic),
                      "dataloader": round(timed(fed(loader), trainer(len(folder.classes)), o.seconds))}))


if __name__ == "__main__":
    main()
