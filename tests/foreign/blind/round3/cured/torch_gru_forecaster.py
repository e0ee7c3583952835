# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 35
# env: OMP_WAIT_POLICY=PASSIVE
# where: set_num_threads / num_threads
# Why: the configuration comes from a 48-core node and sets 48 threads; here are two cores, and every small operation waits for 48 threads to meet.
import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=256)
parser.add_argument("--window", type=int, default=24)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--num-threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=20000)
args = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(args.num_threads)


def load_profiles(n=400, length=1000):
    t = torch.arange(length).float()
    phase = torch.rand(n, 1) * 24
    daily = torch.sin(2 * torch.pi * (t + phase) / 24)
    weekly = 0.5 * torch.sin(2 * torch.pi * (t + phase) / 168)
    return daily + weekly + 0.1 * torch.randn(n, length)


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.inp = nn.Linear(1, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.cell.hidden_size)
        preds = []
        for i in range(x.shape[1]):
            h = self.cell(torch.relu(self.inp(x[:, i:i + 1])), h)
            preds.append(self.out(h))
        return torch.cat(preds, dim=1)


profiles = load_profiles()
model = Forecaster(args.hidden)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for step in range(1, args.steps + 1):
    who = torch.randint(0, profiles.shape[0], (args.batch_size,))
    begin = torch.randint(0, profiles.shape[1] - args.window - 1, (args.batch_size,))
    offsets = torch.arange(args.window + 1)
    chunk = profiles[who[:, None], begin[:, None] + offsets]
    pred = model(chunk[:, :-1])
    loss = nn.functional.mse_loss(pred, chunk[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 2 == 1:
        print(f"step {step} mse {loss.item():.4f}", flush=True)
