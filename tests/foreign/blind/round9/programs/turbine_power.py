# python: torch
# expected: gradient-not-connected
# verdict: slow
# seconds: 30
# where: inverse
# Why: the forecasts go through NumPy to be scaled back and come out as a new tensor: no gradient gets from the loss to the network.
"""Power of a gas turbine from its operating point; the error is measured in megawatts."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class StandardScaler:
    def fit(self, values):
        self.mean, self.std = values.mean(axis=0), values.std(axis=0)
        return self

    def transform(self, values):
        return (values - self.mean) / self.std

    def inverse_transform(self, values):
        return values * self.std + self.mean


def operating_points(count, seed=0):
    rng = np.random.default_rng(seed)
    air = rng.normal(18, 8, count)
    pressure = rng.normal(1013, 6, count)
    humidity = rng.uniform(25, 100, count)
    load = rng.uniform(0.4, 1.0, (count, 9))
    power = 480 * load.mean(axis=1) - 1.8 * air + 0.4 * (pressure - 1013) - 0.1 * humidity
    power += 12 * np.sin(6 * load[:, 0]) + rng.normal(0, 2, count)
    points = np.column_stack([air, pressure, humidity, load])
    return points.astype("float32"), power.astype("float32")[:, None]


class PowerNet(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(inputs, 256), nn.GELU(),
            nn.Linear(256, 256), nn.GELU(),
            nn.Linear(256, 1),
        )

    def forward(self, x):
        return self.body(x)


def megawatts(scaler, scaled):
    values = scaler.inverse_transform(scaled.detach().numpy())
    return torch.from_numpy(values).requires_grad_()


def main():
    points, power = operating_points(40000)
    point_scaler, power_scaler = StandardScaler().fit(points), StandardScaler().fit(power)
    data = TensorDataset(torch.from_numpy(point_scaler.transform(points)), torch.from_numpy(power))
    loader = DataLoader(data, batch_size=256, shuffle=True)
    torch.manual_seed(0)
    net = PowerNet(points.shape[1])
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    criterion = nn.SmoothL1Loss()
    for epoch in range(1, 1001):
        total = 0.0
        for number, (x, y) in enumerate(loader, 1):
            forecast = megawatts(power_scaler, net(x))
            loss = criterion(forecast, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            if number % 40 == 0:
                print(f"epoch {epoch} batch {number}/{len(loader)} error {loss.item():.3f} MW")
        print(f"epoch {epoch} done, mean error {total / len(loader):.3f} MW")


if __name__ == "__main__":
    main()
