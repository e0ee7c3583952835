# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Policy gradient: the returns and the "loss" swing up and down by nature, and one line comes per update. The policy network is the work.
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Building:
    """Many copies of one lift in a house with 12 floors. Actions: down, stay, up."""

    def __init__(self, copies, floors=12, seed=0):
        self.copies, self.floors = copies, floors
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.at = self.rng.integers(0, self.floors, self.copies)
        self.calls = self.rng.random((self.copies, self.floors)) < 0.15
        return self.view()

    def view(self):
        here = np.zeros((self.copies, self.floors), np.float32)
        here[np.arange(self.copies), self.at] = 1
        return torch.from_numpy(np.concatenate([here, self.calls.astype(np.float32)], 1))

    def step(self, action):
        self.at = np.clip(self.at + action - 1, 0, self.floors - 1)
        rows = np.arange(self.copies)
        served = self.calls[rows, self.at]
        self.calls[rows, self.at] = False
        self.calls |= self.rng.random(self.calls.shape) < 0.01
        reward = served.astype(np.float32) - 0.05 * self.calls.sum(1)
        return self.view(), torch.from_numpy(reward.astype(np.float32))


class Policy(nn.Module):
    def __init__(self, floors=12, width=384):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2 * floors, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                                   nn.Linear(width, width), nn.Tanh())
        self.action = nn.Linear(width, 3)

    def forward(self, x):
        return Categorical(logits=self.action(self.trunk(x)))


def episode(env, policy, horizon):
    state = env.reset()
    log_probs, rewards, entropies = [], [], []
    for _ in range(horizon):
        dist = policy(state)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        state, reward = env.step(action.numpy())
        rewards.append(reward)
    return torch.stack(log_probs), torch.stack(rewards), torch.stack(entropies)


def returns_of(rewards, gamma=0.95):
    out, running = torch.empty_like(rewards), torch.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        out[t] = running
    return out


def main():
    torch.manual_seed(2)
    env, policy = Building(copies=256), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=7e-4)
    for update in range(1, 100000):
        log_probs, rewards, entropies = episode(env, policy, horizon=16)
        returns = returns_of(rewards)
        advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(log_probs * advantage).mean() - 0.01 * entropies.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        print(f"update {update:5d} | return {returns[0].mean().item():8.3f} | loss {loss.item():+.4f}", flush=True)


if __name__ == "__main__":
    main()
