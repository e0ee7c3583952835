# python: loops
# expected: waits-for-pipe
# verdict: stuck
# seconds: 35
# where: stdout.readline
# Why: the simulator's stderr goes into a pipe that nobody reads; when its 64 KB are full the simulator blocks in writing its
# journal and the trainer waits for an answer on stdout for ever.
"""Keep a ferry upright by pumping ballast: REINFORCE in JAX against a simulator in a process of its own."""
import json
import os
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

SIMULATOR = '''
import json, logging, math, random, sys
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
log = logging.getLogger("ferry.sim")
rnd = random.Random(8)
roll = rate = tank = 0.0
clock = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["do"] == "reset":
        roll, rate, tank, clock = rnd.uniform(-4, 4), 0.0, 0.0, 0
        swell = rnd.uniform(0.5, 1.5)
        reward = 0.0
    else:
        tank = max(-3.0, min(3.0, tank + 0.4 * (message["action"] - 1)))
        rate += 0.1 * (swell * math.sin(clock / 9) - 0.3 * roll - 0.2 * rate + tank + rnd.gauss(0, 0.5))
        roll += rate * 0.5
        clock += 1
        reward = -abs(roll) / 5
    if clock % 50 == 49:
        log.info("roll %+.2f deg rate %+.2f tank %+.1f swell %.2f", roll, rate, tank, swell)
    sys.stdout.write(json.dumps({"obs": [roll / 5, rate, tank / 3, math.sin(clock / 9)], "reward": reward}) + "\\n")
    sys.stdout.flush()
'''


class Ferry:
    def __init__(self):
        folder = tempfile.mkdtemp(prefix="ferry_")
        path = os.path.join(folder, "simulator.py")
        with open(path, "w") as f:
            f.write(SIMULATOR)
        self.sim = subprocess.Popen([sys.executable, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)

    def ask(self, **message):
        self.sim.stdin.write(json.dumps(message) + "\n")
        self.sim.stdin.flush()
        answer = json.loads(self.sim.stdout.readline())
        return np.asarray(answer["obs"], np.float32), answer["reward"]


def init(key, sizes=(4, 64, 64, 3)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (a, b)) / np.sqrt(a), jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def logits(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


optimizer = optax.adam(3e-3)


@jax.jit
def update(params, state, obs, actions, advantage):
    def loss_fn(p):
        logp = jax.nn.log_softmax(logits(p, obs))
        chosen = jnp.take_along_axis(logp, actions[:, None], 1)[:, 0]
        return -(chosen * advantage).mean() - 0.01 * -(jnp.exp(logp) * logp).sum(-1).mean()
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    ferry, rng = Ferry(), np.random.default_rng(1)
    params = init(jax.random.PRNGKey(0))
    state, act = optimizer.init(params), jax.jit(lambda p, o: jax.nn.softmax(logits(p, o)))
    began = time.time()
    for it in range(1, 100001):
        obs, actions, returns, scores = [], [], [], []
        for _ in range(4):
            o, rewards = ferry.ask(do="reset")[0], []
            for _ in range(100):
                probs = np.asarray(act(params, o), np.float64)
                a = int(rng.choice(3, p=probs / probs.sum()))
                obs.append(o)
                actions.append(a)
                o, r = ferry.ask(do="step", action=a)
                rewards.append(r)
            back = np.zeros(101)
            for t in range(99, -1, -1):
                back[t] = rewards[t] + 0.97 * back[t + 1]
            returns.append(back[:100])
            scores.append(sum(rewards))
        adv = np.concatenate(returns)
        adv = ((adv - adv.mean()) / (adv.std() + 1e-6)).astype(np.float32)
        params, state, loss = update(params, state, np.stack(obs), np.asarray(actions), adv)
        print(f"[{time.time() - began:5.1f}s] iteration {it} loss {float(loss):+.4f} return {np.mean(scores):.1f}", flush=True)


if __name__ == "__main__":
    main()
