# python: plain
# expected: lock-order [also accepted: worker-deadlock]
# verdict: stuck
# seconds: 35
# where: with self.weights_lock / with self.buffer_lock / self.store(episode) / refresh_priorities()
# Why: the actor stores an episode (buffer lock) while it holds the weights; the learner's priority refresh takes the weights while it holds the
# buffer. Sooner or later each has what the other wants.
import threading
import numpy as np

OBS, ACTIONS, CAPACITY = 12, 4, 20000


class Agent:
    def __init__(self):
        rng = np.random.default_rng(0)
        self.q = rng.standard_normal((OBS, ACTIONS)) * 0.1
        self.obs = np.zeros((CAPACITY, OBS))
        self.act = np.zeros(CAPACITY, int)
        self.rew = np.zeros(CAPACITY)
        self.nxt = np.zeros((CAPACITY, OBS))
        self.priority = np.ones(CAPACITY)
        self.size = self.head = self.episodes = 0
        self.weights_lock = threading.Lock()
        self.buffer_lock = threading.Lock()
        self.mix = rng.standard_normal((ACTIONS, OBS)) * 0.2

    def act_forever(self):
        rng = np.random.default_rng(1)
        while True:
            state, episode = rng.standard_normal(OBS), []
            with self.weights_lock:
                for _ in range(60):
                    scores = (state[:, None] * self.q).sum(axis=0)
                    a = int(scores.argmax()) if rng.random() > 0.1 else int(rng.integers(ACTIONS))
                    new = 0.9 * state + self.mix[a] + 0.05 * rng.standard_normal(OBS)
                    episode.append((state, a, -np.abs(new).mean(), new))
                    state = new
                self.store(episode)

    def store(self, episode):
        with self.buffer_lock:
            for s, a, r, n in episode:
                i = self.head
                self.obs[i], self.act[i], self.rew[i], self.nxt[i] = s, a, r, n
                self.priority[i] = self.priority.max()
                self.head = (i + 1) % CAPACITY
                self.size = min(self.size + 1, CAPACITY)
            self.episodes += 1

    def sample(self, rng, n):
        with self.buffer_lock:
            i = rng.integers(0, max(self.size, 1), n)
            return self.obs[i].copy(), self.act[i].copy(), self.rew[i].copy(), self.nxt[i].copy()

    def refresh_priorities(self):
        with self.buffer_lock:
            n = max(self.size, 1)
            order = np.argsort(self.rew[:n])
            spread = np.sort(self.obs[:n], axis=0)[order // 2].std(axis=1)
            with self.weights_lock:
                q = self.q.copy()
            value = (self.obs[:n, :, None] * q).sum(axis=1).max(axis=1)
            self.priority[:n] = np.abs(self.rew[:n] - value) + 1e-3 * spread


agent = Agent()
threading.Thread(target=agent.act_forever, daemon=True).start()
rng = np.random.default_rng(2)
for step in range(1, 200001):
    s, a, r, n = agent.sample(rng, 256)
    q = agent.q
    target = r + 0.95 * (n[:, :, None] * q).sum(axis=1).max(axis=1)
    td = target - (s[:, :, None] * q).sum(axis=1)[np.arange(len(a)), a]
    grad = np.zeros_like(q)
    for k in range(ACTIONS):
        grad[:, k] = (s[a == k] * td[a == k, None]).sum(axis=0) / len(a)
    with agent.weights_lock:
        agent.q = q + 0.01 * grad
    if step % 4000 == 0:
        agent.refresh_priorities()
    if step % 200 == 0:
        print(f"step {step} episodes {agent.episodes} td {np.mean(td ** 2):.5f}", flush=True)
