# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: A recurrent network in NumPy on text: single losses jump from batch to batch, the average falls; only every fifth is printed,
# and a small checkpoint is written now and then.
import os
import random
import tempfile
import time

import numpy as np

random.seed(12)
VERBS = "chop slice boil stir fry bake whisk fold simmer roast season drain".split()
THINGS = "onions carrots rice flour butter eggs lentils peppers basil garlic cream potatoes".split()
UNITS = ("minutes", "hours", "seconds")


def write_text(sentences=20_000):
    lines = []
    for _ in range(sentences):
        lines.append("%s the %s and the %s for %d %s. " % (
            random.choice(VERBS), random.choice(THINGS), random.choice(THINGS), random.randint(2, 59), random.choice(UNITS)))
    return "".join(lines)


text = write_text()
letters = sorted(set(text))
lookup = {c: i for i, c in enumerate(letters)}
stream = np.fromiter((lookup[c] for c in text), dtype=np.int64, count=len(text))

V, H, T, B = len(letters), 256, 32, 64
rng = np.random.default_rng(0)
params = {
    "E": rng.normal(0, 0.1, (V, H)).astype(np.float32),
    "W": (np.linalg.qr(rng.normal(size=(H, H)))[0] * 0.95).astype(np.float32),
    "O": rng.normal(0, 0.05, (H, V)).astype(np.float32),
    "c": np.zeros(V, np.float32),
}
moment = {k: np.zeros_like(v) for k, v in params.items()}
second = {k: np.zeros_like(v) for k, v in params.items()}


def loss_and_grads(x, y, h0):
    hs = np.empty((T + 1, B, H), np.float32)
    hs[0] = h0
    for t in range(T):
        np.tanh(params["E"][x[t]] + hs[t] @ params["W"], out=hs[t + 1])
    flat = hs[1:].reshape(T * B, H)
    z = flat @ params["O"] + params["c"]
    z -= z.max(1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(1, keepdims=True)
    target = y.reshape(-1)
    rows = np.arange(T * B)
    loss = -np.log(p[rows, target]).mean()
    p[rows, target] -= 1
    p /= T * B
    grads = {"O": flat.T @ p, "c": p.sum(0)}
    dh_all = (p @ params["O"].T).reshape(T, B, H)
    dz = np.empty((T, B, H), np.float32)
    carry = np.zeros((B, H), np.float32)
    for t in reversed(range(T)):
        dz[t] = (dh_all[t] + carry) * (1 - hs[t + 1] ** 2)
        carry = dz[t] @ params["W"].T
    flat_dz = dz.reshape(T * B, H)
    grads["W"] = hs[:-1].reshape(T * B, H).T @ flat_dz
    onehot = np.zeros((T * B, V), np.float32)
    onehot[rows, x.reshape(-1)] = 1
    grads["E"] = onehot.T @ flat_dz
    return loss, grads, hs[-1]


def adam(grads, t, lr=2e-3):
    norm = np.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))
    shrink = min(1.0, 1.0 / norm)
    for k, g in grads.items():
        g *= shrink
        moment[k] += 0.1 * (g - moment[k])
        second[k] += 0.001 * (g * g - second[k])
        params[k] -= lr * (moment[k] / (1 - 0.9 ** t)) / (np.sqrt(second[k] / (1 - 0.999 ** t)) + 1e-8)


checkpoint = os.path.join(tempfile.mkdtemp(prefix="recipes_"), "weights.npz")
lanes = stream[: len(stream) // B * B].reshape(B, -1)
step, began = 0, time.time()
while True:
    state = np.zeros((B, H), np.float32)
    for at in range(0, lanes.shape[1] - T - 1, T):
        step += 1
        chunk = lanes[:, at:at + T + 1].T
        loss, grads, state = loss_and_grads(chunk[:-1], chunk[1:], state)
        adam(grads, step)
        if step % 5 == 0:
            print(f"{step:6d}  {loss:.3f} nats/char  {step / (time.time() - began):.2f} steps/s", flush=True)
        if step % 250 == 0:
            np.savez(checkpoint, **params)
