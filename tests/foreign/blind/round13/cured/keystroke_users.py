# python: torch
# The same program without its fault.
"""Who is typing?  Sixteen users, told apart by hold and flight times of 64 key strokes."""
import time

import torch
import torch.nn as nn
from torch.nn.utils import weight_norm

USERS = 16
KEYS = 64
BATCH = 96
EPOCHS = 200

torch.manual_seed(11)


def type_text(count):
    """hold time, flight time and pressure; each user has a rhythm of its own over the position in the text"""
    habits = torch.Generator().manual_seed(2)
    rhythm = torch.rand(USERS, 3, 1, generator=habits) * 6 + 1
    shift = torch.rand(USERS, 3, 1, generator=habits) * 6.28
    level = torch.randn(USERS, 3, 1, generator=habits) * 0.3
    user = torch.randint(USERS, (count,))
    place = torch.linspace(0, 6.28, KEYS)
    start = torch.rand(count, 1, 1) * 6.28
    wave = torch.sin(rhythm[user] * (place + start) + shift[user])
    return level[user] + 0.6 * wave + 0.5 * torch.randn(count, 3, KEYS), user


def conv(inputs, outputs, stride):
    return nn.Sequential(nn.Conv1d(inputs, outputs, 5, stride=stride, padding=2), nn.ELU())


def build_network():
    return nn.Sequential(
        conv(3, 48, 1),
        conv(48, 96, 2),
        conv(96, 96, 1),
        conv(96, 128, 2),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(128, USERS),
    )


def normalise(network):
    for module in network.modules():
        if isinstance(module, (nn.Conv1d, nn.Linear)):
            weight_norm(module)
    return network


x_train, y_train = type_text(24000)
x_valid, y_valid = type_text(1500)

network = normalise(build_network())
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

began = time.time()
step = 0
for epoch in range(EPOCHS):
    for rows in torch.randperm(len(x_train)).split(BATCH):
        optimizer.zero_grad()
        loss = criterion(network(x_train[rows]), y_train[rows])
        loss.backward()
        optimizer.step()
        step += 1
        if step % 25 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f} time {time.time() - began:.1f}", flush=True)
    with torch.no_grad():
        scores = network(x_valid)
        hit = (scores.argmax(1) == y_valid).float().mean().item()
        print(f"epoch {epoch} valid loss {criterion(scores, y_valid).item():.4f} accuracy {hit:.3f}", flush=True)
