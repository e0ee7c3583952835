# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 35
# where: readline()
# Why: the flow model is a child process with stderr=PIPE that nobody reads. Its remarks fill the pipe after some hundred runs, the
# child blocks in writing them, and the training program waits for an answer on stdout for ever.
"""A neural surrogate for a flowline glacier model: draw parameters, run the flow model, learn its answers."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

MODEL = r'''
import json, sys
import numpy as np

def run(ela, slope, factor):
    n, dx = 60, 200.0
    x = np.arange(n) * dx
    bed = 3000.0 - slope * x
    ice = np.zeros(n)
    dt, reduced = 0.4, 0
    for _ in range(120):
        surface = bed + ice
        gradient = np.gradient(surface, dx)
        diffusivity = factor * ice ** 5 * gradient ** 2
        if diffusivity.max() * dt / dx ** 2 > 0.12:
            diffusivity *= 0.12 * dx ** 2 / dt / diffusivity.max()
            reduced += 1
        flux = -diffusivity * gradient
        balance = np.clip((surface - ela) * 0.007, -6, 2)
        ice = np.maximum(0.0, ice + dt * (balance - np.gradient(flux, dx)))
    print("flowline: CFL limit met in %d of 120 steps, flux limited there (ela=%.1f m, slope=%.3f)" % (reduced, ela, slope), file=sys.stderr, flush=True)
    print("flowline: tongue at %.0f m, thickest %.1f m, volume %.3e m2, area below ela %d cells"
          % ((ice > 1).sum() * dx, ice.max(), ice.sum() * dx, (bed + ice < ela).sum()), file=sys.stderr, flush=True)
    return [float(ice.max()), float((ice > 1).sum() * dx), float(ice.sum() * dx)]

for line in sys.stdin:
    p = json.loads(line)
    print(json.dumps(run(p["ela"], p["slope"], p["factor"])), flush=True)
'''


class FlowModel:
    def __init__(self, folder):
        script = os.path.join(folder, "flowline_model.py")
        with open(script, "w") as f:
            f.write(MODEL)
        env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
        self.process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=env)

    def __call__(self, ela, slope, factor):
        self.process.stdin.write(json.dumps({"ela": ela, "slope": slope, "factor": factor}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Surrogate:
    def __init__(self, rng, sizes=(3, 48, 48, 3)):
        self.w = [rng.normal(0, np.sqrt(2 / a), (a, b)) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b) for b in sizes[1:]]
        self.m = [np.zeros_like(p) for p in self.w + self.b]
        self.v = [np.zeros_like(p) for p in self.w + self.b]
        self.t = 0

    def fit(self, x, y, lr=2e-3):
        acts = [x]
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            z = acts[-1] @ w + b
            acts.append(np.tanh(z) if i < 2 else z)
        delta = 2 * (acts[-1] - y) / y.size
        loss = float(((acts[-1] - y) ** 2).mean())
        gw, gb = [], []
        for i in (2, 1, 0):
            gw.insert(0, acts[i].T @ delta)
            gb.insert(0, delta.sum(0))
            if i:
                delta = (delta @ self.w[i].T) * (1 - acts[i] ** 2)
        self.t += 1
        for p, g, m, v in zip(self.w + self.b, gw + gb, self.m, self.v):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            p -= lr * (m / (1 - 0.9 ** self.t)) / (np.sqrt(v / (1 - 0.999 ** self.t)) + 1e-8)
        return loss


def main():
    rng = np.random.default_rng(4)
    flow = FlowModel(tempfile.mkdtemp(prefix="glacier_"))
    net = Surrogate(rng)
    seen_x, seen_y = [], []
    start = time.time()
    for step in range(1, 20001):
        for _ in range(10):
            u = rng.uniform(-1, 1, 3)
            thickness, length, volume = flow(2600 + 200 * u[0], 0.12 + 0.05 * u[1], 2e-9 * 3 ** u[2])
            seen_x.append(u)
            seen_y.append([thickness / 100, length / 5000, volume / 5e5])
        seen_x, seen_y = seen_x[-4000:], seen_y[-4000:]
        pick = rng.integers(0, len(seen_x), 128)
        loss = net.fit(np.array(seen_x)[pick], np.array(seen_y)[pick])
        if step % 5 == 0:
            print(f"step {step:5d}  runs {step * 10:6d}  loss {loss:.4f}  {time.time() - start:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
