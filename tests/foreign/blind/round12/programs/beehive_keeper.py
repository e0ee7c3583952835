# python: torch
# expected: lock-order
# verdict: stuck
# seconds: 30
# where: with store_lock
# Why: the player thread takes the network's lock and then the store's; the learner, when it renews priorities, takes the store's and
# then the network's. After a few seconds each holds what the other wants.
"""Deep Q-learning for a keeper of many hives: one thread plays, the main thread learns from a prioritised store."""
import threading
import time

import numpy as np
import torch
from torch import nn

HIVES, STATE, ACTIONS = 64, 6, 4
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(STATE, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, ACTIONS))
old_net = nn.Sequential(nn.Linear(STATE, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, ACTIONS))
old_net.load_state_dict(net.state_dict())
net_lock = threading.Lock()
store_lock = threading.Lock()


class Store:
    def __init__(self, size):
        self.size, self.n, self.at = size, 0, 0
        self.s = np.zeros((size, STATE), np.float32)
        self.a = np.zeros(size, np.int64)
        self.r = np.zeros(size, np.float32)
        self.t = np.zeros((size, STATE), np.float32)
        self.priority = np.zeros(size)

    def add(self, s, a, r, t, priority):
        where = (self.at + np.arange(len(a))) % self.size
        self.s[where], self.a[where], self.r[where], self.t[where], self.priority[where] = s, a, r, t, priority
        self.at = (self.at + len(a)) % self.size
        self.n = min(self.size, self.n + len(a))

    def draw(self, n, rng):
        p = self.priority[:self.n] ** 0.6
        i = rng.choice(self.n, n, p=p / p.sum())
        return [torch.from_numpy(v[i]) for v in (self.s, self.a, self.r, self.t)]


def season(state, action, rng):
    honey, bees, brood, mites, warmth, day = state.T
    feed, harvest, treat = action == 1, action == 2, action == 3
    gain = bees * np.clip(warmth, 0, 1) * 0.2 - 0.08 * bees + 0.1 * feed
    reward = np.where(harvest, honey, 0) - 0.15 * feed - 0.2 * treat - (bees < 0.1)
    honey = np.clip(np.where(harvest, 0, honey + gain), 0, 3)
    mites = np.clip(np.where(treat, 0.2 * mites, 1.08 * mites + 0.01), 0, 2)
    bees = np.clip(bees + 0.1 * brood - 0.1 * mites - 0.1 * (honey < 0.05), 0.05, 2)
    brood = np.clip(0.5 * brood + 0.3 * honey, 0, 1)
    day = (day + 0.02) % 1
    warmth = np.sin(2 * np.pi * day) + rng.normal(0, 0.1, len(day))
    return np.stack([honey, bees, brood, mites, warmth, day], 1).astype(np.float32), reward.astype(np.float32)


def td_error(s, a, r, t):
    with torch.no_grad():
        goal = r + 0.97 * old_net(t).max(1).values
        return (goal - net(s).gather(1, a[:, None])[:, 0]).abs().numpy() + 0.01


def play(store):
    rng = np.random.default_rng(1)
    state = rng.uniform(0.2, 1, (HIVES, STATE)).astype(np.float32)
    while True:
        kept = []
        for _ in range(12):
            with net_lock, torch.no_grad():
                action = net(torch.from_numpy(state)).argmax(1).numpy()
            action = np.where(rng.random(HIVES) < 0.15, rng.integers(0, ACTIONS, HIVES), action)
            following, reward = season(state, action, rng)
            kept.append((state, action, reward, following))
            state = following
        s, a, r, t = (np.concatenate(part) for part in zip(*kept))
        with net_lock:
            error = td_error(*(torch.from_numpy(v) for v in (s, a, r, t)))
            with store_lock:
                store.add(s, a, r, t, error)
        time.sleep(0.002)


def renew(store):
    with store_lock:
        recent = np.lexsort((store.priority[:store.n], store.r[:store.n]))[-8000:]
        parts = [torch.from_numpy(v[recent]) for v in (store.s, store.a, store.r, store.t)]
        with net_lock:
            store.priority[recent] = td_error(*parts)


def main():
    store, rng = Store(60000), np.random.default_rng(2)
    threading.Thread(target=play, args=(store,), daemon=True).start()
    optimizer = torch.optim.Adam(net.parameters(), 5e-4)
    while store.n < 8000:
        time.sleep(0.05)
    start = time.time()
    for step in range(1, 200001):
        with store_lock:
            s, a, r, t = store.draw(256, rng)
        with net_lock:
            with torch.no_grad():
                goal = r + 0.97 * old_net(t).max(1).values
            loss = nn.functional.smooth_l1_loss(net(s).gather(1, a[:, None])[:, 0], goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % 200 == 0:
            old_net.load_state_dict(net.state_dict())
        if step % 100 == 0:
            renew(store)
        if step % 20 == 0:
            print(f"step {step:6d}  loss {loss.item():.4f}  stored {store.n}  {step / (time.time() - start):.0f} steps/s", flush=True)


if __name__ == "__main__":
    main()
