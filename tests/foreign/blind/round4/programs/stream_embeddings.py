# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OMP_WAIT_POLICY=passive
# Why: Looks suspicious because there are many threads that all wait (producers before a full queue, a listener on a socket for status questions); the queue is always full and the training thread never waits.
import json
import queue
import socketserver
import threading

import numpy as np

VOCAB, DIM, BATCH = 4000, 64, 512
status = {"step": 0, "loss": None}


class StatusHandler(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write((json.dumps(status) + "\n").encode())


def producer(seed, batches):
    rng = np.random.default_rng(seed)
    while True:
        center = rng.zipf(1.4, BATCH) % VOCAB
        context = (center + rng.integers(-5, 6, BATCH)) % VOCAB
        negatives = rng.integers(0, VOCAB, (BATCH, 8))
        batches.put((center, context, negatives))


class SkipGram:
    def __init__(self, rng):
        self.inputs = (rng.random((VOCAB, DIM)) - 0.5) / DIM
        self.outputs = (rng.random((VOCAB, DIM)) - 0.5) / DIM

    def step(self, center, context, negatives, lr=0.02):
        v = self.inputs[center]
        targets = np.concatenate([context[:, None], negatives], axis=1)
        u = self.outputs[targets]
        scores = np.clip(np.einsum("bd,bkd->bk", v, u), -15, 15)
        labels = np.zeros_like(scores)
        labels[:, 0] = 1.0
        p = 1.0 / (1.0 + np.exp(-scores))
        g = (p - labels) * lr
        dv = np.einsum("bk,bkd->bd", g, u)
        du = g[:, :, None] * v[:, None, :]
        np.add.at(self.inputs, center, -dv)
        np.add.at(self.outputs, targets.ravel(), -du.reshape(-1, DIM))
        return float(-np.log(p[:, 0]).mean() - np.log(1 - p[:, 1:] + 1e-9).sum(1).mean())


def main():
    batches = queue.Queue(maxsize=8)
    for seed in range(6):
        threading.Thread(target=producer, args=(seed, batches), daemon=True).start()
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), StatusHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model = SkipGram(np.random.default_rng(9))
    average = None
    for step in range(1, 10 ** 7):
        loss = model.step(*batches.get())
        average = loss if average is None else 0.99 * average + 0.01 * loss
        status.update(step=step, loss=average)
        if step % 50 == 0:
            print(f"step {step} loss {average:.4f}", flush=True)


if __name__ == "__main__":
    main()
