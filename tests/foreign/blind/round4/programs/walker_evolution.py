# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Looks suspicious because generations take a second or two and vary in length (episodes end early or late) and the reward goes up and down; evolution strategies with two worker processes work like that.
import multiprocessing as mp
import os

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np

STATE, HIDDEN, ACTIONS = 6, 16, 2
PARAMETERS = STATE * HIDDEN + HIDDEN * ACTIONS


def rollout(theta, seed):
    rng = np.random.default_rng(seed)
    w1 = theta[:STATE * HIDDEN].reshape(STATE, HIDDEN)
    w2 = theta[STATE * HIDDEN:].reshape(HIDDEN, ACTIONS)
    state = rng.normal(0, 0.05, STATE)
    total = 0.0
    for t in range(300):
        action = np.tanh(np.tanh(state @ w1) @ w2)
        tilt, spin = state[0], state[1]
        spin += 0.05 * (9.0 * np.sin(tilt) - 6.0 * action[0]) + rng.normal(0, 0.01)
        tilt += 0.05 * spin
        speed = 0.95 * state[2] + 0.1 * action[1] - 0.02 * abs(tilt)
        state = np.array([tilt, spin, speed, np.sin(0.2 * t), np.cos(0.2 * t), state[0] - tilt])
        total += 1.0 + speed - 0.5 * tilt ** 2
        if abs(tilt) > 1.0:
            break
    return total


def evaluate(job):
    theta, noise_seed, sigma = job
    noise = np.random.default_rng(noise_seed).standard_normal(PARAMETERS)
    plus = rollout(theta + sigma * noise, noise_seed)
    minus = rollout(theta - sigma * noise, noise_seed)
    return noise_seed, plus, minus


def main():
    theta = np.random.default_rng(0).standard_normal(PARAMETERS) * 0.1
    sigma, rate, pairs = 0.1, 0.05, 120
    seeds = np.random.default_rng(1)
    with mp.Pool(2) as pool:
        for step in range(1, 100000):
            chosen = seeds.integers(0, 2 ** 31, pairs)
            jobs = [(theta, int(s), sigma) for s in chosen]
            results = pool.map(evaluate, jobs, chunksize=10)
            rewards = np.array([(p, m) for _, p, m in results])
            ranks = rewards.ravel().argsort().argsort().reshape(rewards.shape) / rewards.size - 0.5
            gradient = np.zeros(PARAMETERS)
            for (seed, _, _), (up, down) in zip(results, ranks):
                gradient += (up - down) * np.random.default_rng(seed).standard_normal(PARAMETERS)
            theta += rate * gradient / (pairs * sigma)
            print(f"step {step} reward {rewards.mean():.2f} loss {-rewards.mean():.2f}", flush=True)


if __name__ == "__main__":
    main()
