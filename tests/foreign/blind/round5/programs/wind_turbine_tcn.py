# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# where: set_num_threads
# Why: The settings of a large server ask for 12 threads; here two cores run them, and every small operation waits for all of them.
import json
import time

import torch
import torch.nn as nn

SETTINGS = json.loads("""
{"channels": 32, "levels": 4, "window": 128, "batch": 16, "lr": 0.001, "cpu_threads": 12, "report_every": 5}
""")


class CausalBlock(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.pad = nn.ConstantPad1d((2 * dilation, 0), 0.0)
        self.conv = nn.Conv1d(c, c, 3, dilation=dilation)
        self.norm = nn.GroupNorm(4, c)
        self.gate = nn.Conv1d(c, c, 1)

    def forward(self, x):
        h = self.norm(self.conv(self.pad(x)))
        return x + torch.tanh(h) * torch.sigmoid(self.gate(h))


class PowerModel(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.inp = nn.Conv1d(3, s["channels"], 1)
        self.blocks = nn.Sequential(*[CausalBlock(s["channels"], 2 ** i) for i in range(s["levels"])])
        self.out = nn.Conv1d(s["channels"], 1, 1)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


def scada(n=60000):
    g = torch.Generator().manual_seed(6)
    wind = 8 + torch.cumsum(torch.randn(n, generator=g) * 0.1, 0) * 0.2 + torch.randn(n, generator=g) * 0.5
    wind = wind.clamp(0, 25)
    temp = 10 + 8 * torch.sin(torch.arange(n) / 1440 * 6.28)
    pitch = (wind - 12).clamp(min=0) * 2 + torch.randn(n, generator=g) * 0.1
    power = ((wind / 12) ** 3).clamp(max=1) * (1 - 0.002 * temp)
    power = torch.nn.functional.avg_pool1d(power[None, None], 5, 1, 2)[0, 0]
    return torch.stack([wind / 10 - 1, temp / 20, pitch / 10]), power


def main(s=SETTINGS):
    torch.manual_seed(1)
    torch.set_num_threads(s["cpu_threads"])
    series, power = scada()
    model = PowerModel(s)
    opt = torch.optim.Adam(model.parameters(), lr=s["lr"])
    last, step = time.time(), 0
    while True:
        start = torch.randint(0, series.shape[1] - s["window"], (s["batch"],)).tolist()
        x = torch.stack([series[:, i:i + s["window"]] for i in start])
        y = torch.stack([power[i:i + s["window"]] for i in start])
        loss = nn.functional.l1_loss(model(x).squeeze(1), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        step += 1
        if step % s["report_every"] == 0:
            now = time.time()
            print(json.dumps({"step": step, "mae": round(loss.item(), 5), "ms_per_step": round((now - last) * 1000 / s["report_every"], 1)}), flush=True)
            last = now


main()
