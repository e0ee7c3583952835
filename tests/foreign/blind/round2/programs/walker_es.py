# python: plain
# expected: healthy
# verdict: healthy
# env: OMP_WAIT_POLICY=passive
# seconds: 40
# Why: looks suspicious because the main process sleeps almost always, waiting for its pool; the two workers roll out the population and both cores are busy with it.
import multiprocessing as mp
import numpy as np

OBS, ACT, HIDDEN, STEPS, POP = 6, 2, 16, 200, 24
SIZES = [(OBS, HIDDEN), (HIDDEN, ACT)]
TOTAL = sum(a * b for a, b in SIZES)
SIGMA, RATE = 0.1, 0.1


def unpack(theta):
    out, at = [], 0
    for a, b in SIZES:
        out.append(theta[at:at + a * b].reshape(a, b))
        at += a * b
    return out


def rollout(job):
    theta, seed = job
    w1, w2 = unpack(theta)
    rng = np.random.default_rng(seed)
    score = 0.0
    for _ in range(3):
        pos, vel = rng.normal(size=2), np.zeros(2)
        goal = rng.normal(size=2) * 2
        for _ in range(STEPS):
            obs = np.concatenate([pos, vel, goal])
            act = np.tanh(np.tanh(obs @ w1) @ w2)
            vel = 0.95 * vel + 0.1 * act
            pos = pos + 0.1 * vel
            score -= 0.01 * np.hypot(*(pos - goal)) + 0.0005 * (act @ act)
    return score / 3


def ranks(scores):
    order = np.empty(len(scores))
    order[np.argsort(scores)] = np.arange(len(scores))
    return order / (len(scores) - 1) - 0.5


def main():
    rng = np.random.default_rng(110)
    theta = 0.1 * rng.normal(size=TOTAL)
    with mp.Pool(2) as pool:
        for generation in range(1, 2001):
            noise = rng.normal(size=(POP // 2, TOTAL))
            noise = np.concatenate([noise, -noise])
            seeds = [int(rng.integers(1 << 30))] * POP
            scores = np.array(pool.map(rollout, [(theta + SIGMA * e, s) for e, s in zip(noise, seeds)], chunksize=3))
            grad = ranks(scores) @ noise / (POP * SIGMA)
            theta = theta + RATE * grad
            print(f"generation {generation} mean return {scores.mean():.3f} best {scores.max():.3f}", flush=True)


if __name__ == "__main__":
    main()
