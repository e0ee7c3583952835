# python: plain
# expected: lock-order [also accepted: worker-deadlock]
# verdict: stuck
# seconds: 25
# where: with self.weights_lock / with self.queue_lock
# Why: one thread takes the weights and then the queue, the other the queue and then the weights.
import threading
import time

import numpy as np


class Exchange:
    def __init__(self):
        self.weights_lock, self.queue_lock = threading.Lock(), threading.Lock()
        self.weights, self.queue = np.zeros(64), []

    def learn(self, step):
        with self.weights_lock:
            self.weights += 0.01 * np.sin(np.arange(64) + step)
            with self.queue_lock:
                batch, self.queue = self.queue, []
        return float(np.abs(self.weights).mean()) + 0.01 * len(batch)

    def collect(self, rng):
        with self.queue_lock:
            self.queue.append(rng.normal(size=64))
            if len(self.queue) % 5 == 0:
                np.linalg.svd(rng.normal(size=(200, 200)))
            with self.weights_lock:
                self.queue[-1] *= self.weights.mean()


def main():
    exchange, rng = Exchange(), np.random.default_rng(3)

    def gather():
        while True:
            exchange.collect(rng)

    threading.Thread(target=gather, daemon=True).start()
    step = 0
    while True:
        step += 1
        loss = exchange.learn(step)
        time.sleep(0.001)
        if step % 50 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
