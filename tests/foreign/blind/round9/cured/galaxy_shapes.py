"""Spiral or elliptical? A convolutional network on drawn galaxies."""
import argparse
import os
import time

import torch
from torch import nn

SIDE = 32


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpus", default="", help="cores to run on, such as 0,1,2")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=5e-4)
    return parser.parse_args()


def draw(count, generator):
    line = torch.linspace(-1, 1, SIDE)
    yy, xx = torch.meshgrid(line, line, indexing="ij")
    kind = torch.randint(0, 2, (count,), generator=generator)
    tilt = 6.28 * torch.rand(count, 1, 1, generator=generator)
    flat = 0.5 + 0.5 * torch.rand(count, 1, 1, generator=generator)
    u = xx * torch.cos(tilt) + yy * torch.sin(tilt)
    v = (yy * torch.cos(tilt) - xx * torch.sin(tilt)) / flat
    radius = torch.sqrt(u ** 2 + v ** 2) + 1e-3
    arms = 1 + 0.9 * kind.view(-1, 1, 1) * torch.cos(2 * torch.atan2(v, u) + 9 * torch.log(radius + 0.1))
    image = torch.exp(-3 * radius) * arms + 0.25 * torch.randn(count, SIDE, SIDE, generator=generator)
    return image.unsqueeze(1), kind


def network():
    layers, width = [], 1
    for out in (16, 32, 48):
        layers += [nn.Conv2d(width, out, 3, padding=1), nn.ReLU(),
                   nn.Conv2d(out, out, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        width = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 2))


def main():
    args = parse()
    if args.cpus:
        os.sched_setaffinity(0, {int(core) for core in args.cpus.split(",")})
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    images, kinds = draw(4096, generator)
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    began = time.time()
    for step in range(1, args.steps + 1):
        rows = torch.randint(0, len(images), (args.batch_size,), generator=generator)
        loss = nn.functional.cross_entropy(net(images[rows]), kinds[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"{step:5d}/{args.steps}  loss {loss.item():.4f}  {step / (time.time() - began):.2f} it/s")


if __name__ == "__main__":
    main()
