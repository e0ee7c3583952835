# python: gpu
# expected: launch-bound
# verdict: slow
# seconds: 25
# where: for hour in range(x.shape[1])
# Why: the recurrent cell is written out by hand and runs hour by hour: thousands of tiny kernels per step, which the CPU cannot
# launch fast enough. nn.GRU does the same in a few.
"""Hourly river flow from a week of rain, temperature and snow."""
import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
HOURS, FEATURES, HIDDEN, BATCH = 168, 8, 256, 512


class FlowModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = nn.Linear(FEATURES, 3 * HIDDEN)
        self.memory = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.gauge = nn.Linear(HIDDEN, 1)

    def forward(self, x):
        state = x.new_zeros(len(x), HIDDEN)
        states = []
        for hour in range(x.shape[1]):
            xr, xz, xn = self.inputs(x[:, hour]).chunk(3, dim=-1)
            hr, hz, hn = self.memory(state).chunk(3, dim=-1)
            reset = torch.sigmoid(xr + hr)
            update = torch.sigmoid(xz + hz)
            new = torch.tanh(xn + reset * hn)
            state = (1 - update) * new + update * state
            states.append(state)
        return self.gauge(torch.stack(states, dim=1)).squeeze(-1)


decay = torch.exp(-torch.arange(48, device=device) / 12.0).flip(0)


def draw_catchments():
    weather = torch.randn(BATCH, HOURS, FEATURES, device=device)
    rain = F.relu(weather[:, :, 0] - 0.7)
    melt = F.relu(weather[:, :, 1]) * 0.2 * torch.sigmoid(weather[:, :, 2])
    supply = F.pad((rain + melt)[:, None], (47, 0))
    flow = F.conv1d(supply, decay[None, None])[:, 0]
    return weather, flow + 0.05 * torch.randn_like(flow)


def main():
    torch.manual_seed(8)
    model = FlowModel().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1, 1_000_001):
        weather, flow = draw_catchments()
        loss = F.huber_loss(model(weather), flow)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 4 == 0:
            print(f"step {step} loss {loss.item():.5f}", flush=True)


if __name__ == "__main__":
    main()
