# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: PPO: the return climbs by fits and starts, the policy loss swings around zero and the value loss rises at times; that is what
#   reinforcement learning looks like. Playing takes little of the time, learning nearly all.
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class Pendulums:
    """Many pendulums at once."""

    def __init__(self, n, seed=0):
        self.n = n
        self.rng = np.random.default_rng(seed)
        self.angle = np.zeros(n)
        self.speed = np.zeros(n)
        self.left = np.zeros(n, int)
        self.restart(np.ones(n, bool))

    def restart(self, which):
        k = int(which.sum())
        self.angle[which] = self.rng.uniform(-math.pi, math.pi, k)
        self.speed[which] = self.rng.uniform(-1, 1, k)
        self.left[which] = self.rng.integers(100, 200, k)

    def look(self):
        return np.stack([np.cos(self.angle), np.sin(self.angle), self.speed / 8], 1).astype(np.float32)

    def step(self, push):
        push = np.clip(push, -2, 2)
        wrapped = (self.angle + math.pi) % (2 * math.pi) - math.pi
        reward = -(wrapped ** 2 + 0.1 * self.speed ** 2 + 0.001 * push ** 2) / 8
        self.speed = np.clip(self.speed + (15 * np.sin(self.angle) + 3 * push) * 0.05, -8, 8)
        self.angle = self.angle + self.speed * 0.05
        self.left -= 1
        done = self.left <= 0
        self.restart(done)
        return self.look(), reward.astype(np.float32), done.astype(np.float32)


@dataclass
class Settings:
    envs: int = 64
    horizon: int = 64
    epochs: int = 8
    minibatch: int = 512
    gamma: float = 0.97
    lam: float = 0.92
    clip: float = 0.2
    lr: float = 6e-4


class Agent(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.value = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def policy(self, obs):
        return Normal(2 * torch.tanh(self.actor(obs).squeeze(-1)), self.log_std.exp())


def advantages(reward, value, done, last, s):
    out, run = torch.zeros_like(reward), torch.zeros(s.envs)
    for t in reversed(range(s.horizon)):
        after = last if t == s.horizon - 1 else value[t + 1]
        delta = reward[t] + s.gamma * after * (1 - done[t]) - value[t]
        run = delta + s.gamma * s.lam * (1 - done[t]) * run
        out[t] = run
    return out


def main():
    s = Settings()
    torch.manual_seed(0)
    env, agent = Pendulums(s.envs), Agent()
    opt = torch.optim.Adam(agent.parameters(), lr=s.lr)
    obs = torch.from_numpy(env.look())
    for update in range(1, 100001):
        rows = []
        with torch.no_grad():
            for _ in range(s.horizon):
                pi = agent.policy(obs)
                act = pi.sample()
                nxt, reward, done = env.step(act.numpy())
                rows.append((obs, act, pi.log_prob(act), agent.value(obs).squeeze(-1), torch.from_numpy(reward), torch.from_numpy(done)))
                obs = torch.from_numpy(nxt)
            last = agent.value(obs).squeeze(-1)
        o, a, logp, v, r, d = (torch.stack(c) for c in zip(*rows))
        adv = advantages(r, v, d, last, s)
        target = (adv + v).flatten()
        o, a, logp, adv = o.flatten(0, 1), a.flatten(), logp.flatten(), adv.flatten()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(s.epochs):
            for pick in torch.randperm(len(a)).split(s.minibatch):
                pi = agent.policy(o[pick])
                ratio = (pi.log_prob(a[pick]) - logp[pick]).exp()
                gain = torch.min(ratio * adv[pick], ratio.clamp(1 - s.clip, 1 + s.clip) * adv[pick]).mean()
                miss = (agent.value(o[pick]).squeeze(-1) - target[pick]).pow(2).mean()
                opt.zero_grad()
                (0.5 * miss - gain - 0.002 * pi.entropy().mean()).backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                opt.step()
        print(f"update {update}  reward {r.mean().item():+.3f}  policy loss {-gain.item():+.4f}  value loss {miss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
