"""ResNet-50 on photographs: train_resnet.py FOLDER [--workers N] [--synthetic] [--seconds S]."""

import argparse
import time

import torch
import torchvision
from torchvision import transforms


def batches(args):
    if args.synthetic:
        images = torch.randn(args.batch, 3, 224, 224, device="cuda")
        images = images.to(memory_format=torch.channels_last)
        labels = torch.zeros(args.batch, dtype=torch.long, device="cuda")
        while True:
            yield images, labels
    pipeline = transforms.Compose([transforms.RandomResizedCrop(224),
                                   transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    dataset = torchvision.datasets.ImageFolder(args.folder, pipeline)
    loader = torch.utils.data.DataLoader(dataset, batch_size=args.batch, shuffle=True,
                                         num_workers=args.workers, pin_memory=True, drop_last=True)
    while True:
        for images, labels in loader:
            images = images.cuda(non_blocking=True).to(memory_format=torch.channels_last)
            yield images, labels.cuda(non_blocking=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default="")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    model = torchvision.models.resnet50(num_classes=5).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    criterion = torch.nn.CrossEntropyLoss()
    began = last = time.time()
    for step, (images, labels) in enumerate(batches(args), 1):
        with torch.autocast("cuda", torch.bfloat16):
            loss = criterion(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            now = time.time()
            print(f"step {step} loss {loss.item():.3f} {20 * args.batch / (now - last):.0f} images/s",
                  flush=True)
            last = now
        if time.time() - began > args.seconds:
            break


if __name__ == "__main__":
    main()
