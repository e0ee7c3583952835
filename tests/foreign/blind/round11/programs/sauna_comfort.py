# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 28
# Why: a feeding thread that mostly waits because its queue is full, a status server on 127.0.0.1 that waits for visitors who never
# come, validation and checkpoints now and then; the trainer never waits for any of them.
import json
import os
import queue
import socketserver
import tempfile
import threading
import time

import numpy as np

FEATURES, HIDDEN, GRADES = 64, 320, 7
status = {"step": 0, "loss": None}


class Status(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(json.dumps(status).encode() + b"\n")


class Feeder(threading.Thread):
    def __init__(self, teacher, batch, depth=6):
        super().__init__(daemon=True)
        self.teacher, self.batch = teacher, batch
        self.rng = np.random.default_rng(40)
        self.out = queue.Queue(maxsize=depth)

    def make(self, n):
        x = self.rng.standard_normal((n, FEATURES), dtype=np.float32)
        score = np.tanh(x @ self.teacher[0]) @ self.teacher[1]
        score += 0.3 * self.rng.gumbel(size=score.shape).astype(np.float32)
        return x, score.argmax(axis=1)

    def run(self):
        while True:
            self.out.put(self.make(self.batch))


class Net:
    def __init__(self, rng):
        sizes = [FEATURES, HIDDEN, HIDDEN, GRADES]
        self.w = [(rng.normal(size=(a, b)) * np.sqrt(2 / a)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b, np.float32) for b in sizes[1:]]
        self.vw = [np.zeros_like(w) for w in self.w]
        self.vb = [np.zeros_like(b) for b in self.b]

    def forward(self, x):
        acts = [x]
        for w, b in zip(self.w[:-1], self.b[:-1]):
            acts.append(np.maximum(acts[-1] @ w + b, 0))
        z = acts[-1] @ self.w[-1] + self.b[-1]
        z = z - z.max(axis=1, keepdims=True)
        return acts, z - np.log(np.exp(z).sum(axis=1, keepdims=True))

    def train(self, x, y, lr, mu=0.9):
        acts, logp = self.forward(x)
        rows = np.arange(len(y))
        d = np.exp(logp)
        d[rows, y] -= 1
        d /= len(y)
        for i in reversed(range(len(self.w))):
            gw, gb = acts[i].T @ d, d.sum(axis=0)
            if i:
                d = (d @ self.w[i].T) * (acts[i] > 0)
            self.vw[i] = mu * self.vw[i] - lr * gw
            self.vb[i] = mu * self.vb[i] - lr * gb
            self.w[i] += self.vw[i]
            self.b[i] += self.vb[i]
        return float(-logp[rows, y].mean())


def main():
    rng = np.random.default_rng(9)
    teacher = (rng.normal(size=(FEATURES, 24)).astype(np.float32) / 8, rng.normal(size=(24, GRADES)).astype(np.float32))
    server = socketserver.TCPServer(("127.0.0.1", 0), Status)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    feeder = Feeder(teacher, batch=512)
    held = feeder.make(2000)
    feeder.start()
    print(f"status on port {server.server_address[1]}", flush=True)
    net, folder, began = Net(rng), tempfile.mkdtemp(prefix="sauna"), time.time()
    for step in range(1, 100001):
        x, y = feeder.out.get()
        loss = net.train(x, y, lr=0.02)
        status.update(step=step, loss=loss)
        if step % 10 == 0:
            print(f"step {step} loss {loss:.4f} {step / (time.time() - began):.1f}/s waiting batches {feeder.out.qsize()}", flush=True)
        if step % 300 == 0:
            _, logp = net.forward(held[0])
            print(f"held-out: {np.mean(logp.argmax(1) == held[1]):.3f} right", flush=True)
            np.savez(os.path.join(folder, "comfort.npz"), *net.w, *net.b)


if __name__ == "__main__":
    main()
