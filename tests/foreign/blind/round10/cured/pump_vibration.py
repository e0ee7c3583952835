"""Online training of a small network on pump vibration windows that arrive as a stream with repeats."""
import time

import numpy as np

rng = np.random.default_rng(8)
WINDOW, HIDDEN, STATES = 64, 48, 4


def stream():
    """(identifier, window, state); now and then the gateway sends a window twice."""
    t = np.arange(WINDOW)
    last = None
    while True:
        if last is not None and rng.random() < 0.1:
            yield last
            continue
        state = int(rng.integers(STATES))
        wave = np.sin(t * (0.2 + 0.05 * state) + rng.uniform(0, 6.3)) + 0.3 * state * np.sin(t * 0.9 + rng.uniform(0, 6.3))
        last = (f"pump-{rng.integers(40):02d}/{rng.integers(1 << 60):016x}", wave + 0.5 * rng.standard_normal(WINDOW), state)
        yield last


class Net:
    def __init__(self):
        self.w1 = rng.standard_normal((WINDOW // 2 + 1, HIDDEN)) * 0.2
        self.b1 = np.zeros(HIDDEN)
        self.w2 = rng.standard_normal((HIDDEN, STATES)) * 0.2
        self.b2 = np.zeros(STATES)

    def step(self, x, y, lr):
        f = np.log1p(np.abs(np.fft.rfft(x, axis=1)))
        h = np.tanh(f @ self.w1 + self.b1)
        z = h @ self.w2 + self.b2
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(axis=1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-12).mean()
        hits = (p.argmax(1) == y).mean()
        d = p
        d[np.arange(len(y)), y] -= 1
        d /= len(y)
        dh = (d @ self.w2.T) * (1 - h * h)
        self.w2 -= lr * h.T @ d
        self.b2 -= lr * d.sum(0)
        self.w1 -= lr * f.T @ dh
        self.b1 -= lr * dh.sum(0)
        return loss, hits


def main(batch=128):
    net = Net()
    seen = set()
    skipped = 0
    xs, ys = [], []
    step, began, mark = 0, time.time(), time.time()
    for ident, window, state in stream():
        if ident in seen:
            skipped += 1
            continue
        seen.add(ident)
        xs.append(window)
        ys.append(state)
        if len(xs) < batch:
            continue
        loss, hits = net.step(np.array(xs), np.array(ys), lr=0.05)
        xs, ys = [], []
        step += 1
        if step % 20 == 0:
            now = time.time()
            print(f"step {step} loss {loss:.4f} accuracy {hits:.2f} repeats {skipped} "
                  f"{1000 * (now - mark) / 20:.1f} ms/step {now - began:.0f} s", flush=True)
            mark = now
        if step == 400_000:
            break


if __name__ == "__main__":
    main()
