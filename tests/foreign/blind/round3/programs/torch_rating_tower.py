# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# env: OMP_WAIT_POLICY=PASSIVE
# Why: the loss fell within the first seconds and then stays near zero for the rest: the task is learned and the run goes on with its fixed number
# of steps. Looks like a frozen loss, is a converged one.
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
torch.set_num_threads(os.cpu_count())
CATS, DIM = 64, 24
TOTAL_STEPS = 30000


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(CATS, 32)
        self.net = nn.Sequential(
            nn.Linear(32 + DIM, 768), nn.ReLU(),
            nn.Linear(768, 768), nn.ReLU(),
            nn.Linear(768, 4))

    def forward(self, cat, dense):
        return self.net(torch.cat([self.emb(cat), dense], dim=1))


rule = torch.randint(0, 4, (CATS,))


def sample(batch):
    cat = torch.randint(0, CATS, (batch,))
    dense = torch.randn(batch, DIM)
    return cat, dense, rule[cat]


model = Tower()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, TOTAL_STEPS)
running = None
for step in range(1, TOTAL_STEPS + 1):
    cat, dense, target = sample(512)
    logits = model(cat, dense)
    loss = F.cross_entropy(logits, target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    schedule.step()
    value = loss.item()
    running = value if running is None else 0.9 * running + 0.1 * value
    if step % 25 == 0:
        acc = (logits.argmax(1) == target).float().mean().item()
        print(f"step {step}/{TOTAL_STEPS} loss {running:.5f} acc {acc:.3f}", flush=True)
