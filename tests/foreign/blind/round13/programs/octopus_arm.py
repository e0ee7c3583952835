# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the policy loss jumps around zero and the distance falls by fits and starts, as in all policy gradients; the arms
# are simulated in one tensor and most of the time goes into the update of the network.
"""Teach an octopus arm of eight segments to reach for a crab (PPO, 256 arms at a time)."""
import os
import tempfile
import time

import torch
import torch.nn as nn
from torch.distributions import Normal

SEGMENTS = 8
ARMS = 256
HORIZON = 24
ITERATIONS = 3000
EPOCHS = 4
MINIBATCH = 1024
KEEP = os.path.join(tempfile.gettempdir(), "octopus_arm.pt")


class Arms:
    def __init__(self, generator):
        self.g = generator

    def reset(self):
        self.angle = 0.3 * torch.randn(ARMS, SEGMENTS, generator=self.g)
        self.speed = torch.zeros(ARMS, SEGMENTS)
        radius = 0.3 + 0.6 * torch.rand(ARMS, 1, generator=self.g)
        bearing = 3.0 * (torch.rand(ARMS, 1, generator=self.g) - 0.5)
        self.crab = torch.cat([radius * bearing.cos(), radius * bearing.sin()], 1)
        return self.observe()

    def tip(self):
        heading = self.angle.cumsum(1)
        return torch.stack([heading.cos().mean(1), heading.sin().mean(1)], 1)

    def observe(self):
        return torch.cat([self.angle.sin(), self.angle.cos(), self.speed, self.crab, self.crab - self.tip()], 1)

    def move(self, pull):
        self.speed = 0.7 * self.speed + 0.15 * pull.clamp(-1, 1)
        self.angle = (self.angle + self.speed).clamp(-2, 2)
        self.crab = self.crab + 0.01 * torch.randn(ARMS, 2, generator=self.g)
        distance = (self.tip() - self.crab).norm(dim=1)
        return self.observe(), -distance - 0.002 * pull.pow(2).mean(1), distance


class Brain(nn.Module):
    def __init__(self, inputs, width=256):
        super().__init__()

        def tower(outputs):
            return nn.Sequential(
                nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs)
            )

        self.policy, self.value = tower(SEGMENTS), tower(1)
        self.log_std = nn.Parameter(torch.full((SEGMENTS,), -0.5))
        with torch.no_grad():
            self.policy[-1].weight.mul_(0.01)

    def act(self, state):
        return Normal(self.policy(state), self.log_std.exp())


@torch.no_grad()
def collect(arms, brain, gamma=0.95, trace=0.95):
    state = arms.reset()
    states, actions, logs, rewards, distances = [], [], [], [], []
    for _ in range(HORIZON):
        chances = brain.act(state)
        action = chances.sample()
        states.append(state)
        actions.append(action)
        logs.append(chances.log_prob(action).sum(1))
        state, reward, distance = arms.move(action)
        rewards.append(reward)
        distances.append(distance)
    values = brain.value(torch.stack(states + [state])).squeeze(-1)
    gains, gain = [], torch.zeros(ARMS)
    for t in reversed(range(HORIZON)):
        surprise = rewards[t] + gamma * values[t + 1] - values[t]
        gain = surprise + gamma * trace * gain
        gains.append(gain)
    gains = torch.stack(gains[::-1])
    flat = [torch.cat(part) for part in (states, actions, logs)]
    return (*flat, gains.reshape(-1), (gains + values[:-1]).reshape(-1), torch.stack(distances[-6:]).mean().item())


def main():
    torch.manual_seed(12)
    arms = Arms(torch.Generator().manual_seed(12))
    brain = Brain(arms.reset().shape[1])
    optimizer = torch.optim.Adam(brain.parameters(), lr=5e-4)
    began = saved = time.time()
    for iteration in range(1, ITERATIONS + 1):
        states, actions, old, gains, returns, distance = collect(arms, brain)
        gains = (gains - gains.mean()) / (gains.std() + 1e-6)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(states)).split(MINIBATCH):
                now = brain.act(states[rows]).log_prob(actions[rows]).sum(1)
                ratio = (now - old[rows]).exp()
                policy_loss = -torch.min(ratio * gains[rows], ratio.clamp(0.8, 1.2) * gains[rows]).mean()
                value_loss = (brain.value(states[rows]).squeeze(-1) - returns[rows]).pow(2).mean()
                optimizer.zero_grad()
                (policy_loss + 0.5 * value_loss).backward()
                nn.utils.clip_grad_norm_(brain.parameters(), 0.5)
                optimizer.step()
        print(
            f"iteration {iteration:4d} distance {distance:.4f} policy {policy_loss.item():+.4f} "
            f"value {value_loss.item():.4f} {time.time() - began:.1f} s",
            flush=True,
        )
        if time.time() - saved > 60:
            torch.save(brain.state_dict(), KEEP)
            saved = time.time()


if __name__ == "__main__":
    main()
