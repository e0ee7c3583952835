# python: torch
# expected: step-time-grows
# verdict: slow
# seconds: 30
# where: register_forward_hook / abs().mean / .std()
# Why: Every step registers another forward hook and none is removed, so the n-th step computes the statistics n times.
import time
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F


class FishNet(nn.Module):
    def __init__(self, n_classes=12):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc = nn.Linear(64, n_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.conv3(x)).mean(dim=(2, 3))
        return self.fc(x)


class ActivationMeter:
    def __init__(self):
        self.values = defaultdict(float)

    def watch(self, net):
        for name, layer in net.named_children():
            if isinstance(layer, nn.Conv2d):
                layer.register_forward_hook(self.make_hook(name))

    def make_hook(self, name):
        def hook(layer, inputs, output):
            out = output.detach()
            self.values[name + ".mean"] = out.abs().mean().item()
            self.values[name + ".std"] = out.std().item()
        return hook


def make_reef(n=1500, n_classes=12):
    g = torch.Generator().manual_seed(3)
    pattern = torch.randn(n_classes, 3, 8, 8, generator=g)
    y = torch.randint(0, n_classes, (n,), generator=g)
    base = F.interpolate(pattern[y], size=(48, 48), mode="bilinear", align_corners=False)
    return base + 1.2 * torch.randn(n, 3, 48, 48, generator=g), y


def train_step(net, opt, meter, x, y):
    meter.watch(net)
    net.train()
    logits = net(x)
    loss = F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def main():
    torch.manual_seed(5)
    x, y = make_reef()
    net, meter = FishNet(), ActivationMeter()
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    step, began = 0, time.time()
    for epoch in range(1000):
        for idx in torch.randperm(len(x)).split(24):
            loss = train_step(net, opt, meter, x[idx], y[idx])
            step += 1
            if step % 10 == 0:
                print("[%6.1fs] step %d loss %.4f conv1 %.3f conv3 %.3f" % (
                    time.time() - began, step, loss, meter.values["conv1.mean"], meter.values["conv3.mean"]), flush=True)


if __name__ == "__main__":
    main()
