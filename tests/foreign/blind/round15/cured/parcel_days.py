# python: torch
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 25
# where: gc.collect()
# Why: gc.collect() after every step walks through the seven hundred thousand objects of the data set; nothing of it is ever garbage.
"""How many days will a parcel travel? Histories of depots, an embedding and a GRU."""
import random
import time

import torch
from torch import nn

DEPOTS, BATCH = 400, 128


class Stop:
    __slots__ = ("depot", "hour", "express")

    def __init__(self, depot, hour, express):
        self.depot, self.hour, self.express = depot, hour, express


class Parcel:
    __slots__ = ("stops", "kilos", "days")

    def __init__(self, stops, kilos, days):
        self.stops, self.kilos, self.days = stops, kilos, days


def histories(count, seed):
    draw = random.Random(seed)
    delay = [draw.uniform(0.1, 1.5) for _ in range(DEPOTS)]
    parcels = []
    for _ in range(count):
        express = draw.random() < 0.3
        stops = [Stop(int(draw.random() * DEPOTS), draw.random(), express) for _ in range(4)]
        days = sum(delay[stop.depot] * (0.5 if express else 1.0) + 0.3 * stop.hour for stop in stops)
        parcels.append(Parcel(stops, draw.random() * 20, days + draw.random() * 0.2))
    return parcels


def collate(parcels):
    depots = torch.tensor([[stop.depot for stop in parcel.stops] for parcel in parcels])
    rest = torch.tensor([[(stop.hour, float(stop.express), parcel.kilos / 20) for stop in parcel.stops] for parcel in parcels])
    return depots, rest, torch.tensor([parcel.days for parcel in parcels])


class Travel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.depot = nn.Embedding(DEPOTS, 32)
        self.gru = nn.GRU(35, width, batch_first=True)
        self.head = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, depots, rest):
        out, _ = self.gru(torch.cat([self.depot(depots), rest], 2))
        return self.head(out[:, -1]).squeeze(1)


def main():
    torch.manual_seed(1)
    began = time.time()
    parcels = histories(120_000, 21)
    print(f"{len(parcels)} parcels after {time.time() - began:.1f} s", flush=True)
    model = Travel()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    draw = random.Random(5)
    mean, began = 0.0, time.time()
    for step in range(1, 40_001):
        depots, rest, days = collate(draw.sample(parcels, BATCH))
        loss = nn.functional.smooth_l1_loss(model(depots, rest), days)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.item() if step == 1 else 0.95 * mean + 0.05 * loss.item()
        del depots, rest, days, loss
        if step % 5 == 0:
            print(f"step {step} loss {mean:.4f} {step / (time.time() - began):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
