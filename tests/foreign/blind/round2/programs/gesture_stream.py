# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# env: OMP_WAIT_POLICY=passive
# Why: looks suspicious because some seventeen threads exist and most wait on queues or sockets; a few readers fill a queue that is always full, the training thread is never kept waiting.
import queue
import socket
import threading
import numpy as np

READERS, CLASSES, LENGTH, CHANNELS, BATCH, HIDDEN = 12, 7, 50, 6, 128, 512


def recording(rng, n):
    y = rng.integers(0, CLASSES, n)
    t = np.arange(LENGTH)[None, :, None] / 8
    ch = np.arange(CHANNELS)[None, None, :]
    x = np.sin(t * (1 + 0.2 * y[:, None, None]) + ch) + 0.4 * rng.normal(size=(n, LENGTH, CHANNELS))
    return x.reshape(n, -1), y


def reader(seed, out):
    rng = np.random.default_rng(seed)
    while True:
        out.put(recording(rng, BATCH))


def status_page(listener, state):
    while True:
        client, _ = listener.accept()
        client.sendall(f"step {state['step']}\n".encode())
        client.close()


class Net:
    def __init__(self, rng, sizes):
        self.w = [rng.normal(size=(i, o)) * np.sqrt(2 / i) for i, o in zip(sizes[:-1], sizes[1:])]
        self.v = [np.zeros_like(w) for w in self.w]

    def step(self, x, y, rate):
        acts = [x]
        for w in self.w[:-1]:
            acts.append(np.maximum(acts[-1] @ w, 0))
        z = acts[-1] @ self.w[-1]
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        back = p
        back[np.arange(len(y)), y] -= 1
        back /= len(y)
        for k in reversed(range(len(self.w))):
            grad = acts[k].T @ back + 1e-4 * self.w[k]
            back = (back @ self.w[k].T) * (acts[k] > 0)
            self.v[k] = 0.9 * self.v[k] - rate * grad
            self.w[k] += self.v[k]
        return loss


def main():
    batches = queue.Queue(maxsize=32)
    state = {"step": 0}
    listener = socket.create_server(("127.0.0.1", 0))
    for _ in range(4):
        threading.Thread(target=status_page, args=(listener, state), daemon=True).start()
    for k in range(READERS):
        threading.Thread(target=reader, args=(k, batches), daemon=True).start()
    rng = np.random.default_rng(120)
    net = Net(rng, (LENGTH * CHANNELS, HIDDEN, HIDDEN, HIDDEN, CLASSES))
    for step in range(1, 20001):
        x, y = batches.get()
        loss = net.step(x, y, 0.01)
        state["step"] = step
        if step % 20 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
