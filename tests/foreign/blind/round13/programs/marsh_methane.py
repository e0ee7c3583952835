# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the samples come over a socket and a queue between threads, and the reader is nearly always found waiting - but
# because its queue is full: the station sends faster than the model learns.
"""Methane flux over a marsh, estimated from the readings that a station sends over TCP (192 numbers each)."""
import multiprocessing
import queue
import socket
import struct
import threading
import time

import numpy as np

READINGS = 192
BLOCK = 256
MEMBERS = 48
HEADER = struct.Struct("!I")


def station(listener):
    """Sends blocks of readings with the flux measured by the chamber as last column, for ever."""
    laws = np.random.default_rng(3)
    mix = laws.normal(0, 1, (READINGS, 12)).astype(np.float32) / np.sqrt(READINGS)
    out = laws.normal(0, 1, 12).astype(np.float32)
    rng = np.random.default_rng(17)
    pool = rng.standard_normal((20000, READINGS), dtype=np.float32)
    latent = pool @ mix * 2
    flux = np.tanh(latent) @ out + 0.8 * latent[:, 0] * latent[:, 1] + 0.3 * rng.standard_normal(len(pool))
    flux = (flux - flux.mean()) / flux.std()
    table = np.hstack([pool, flux[:, None].astype(np.float32)])
    connection, _ = listener.accept()
    with connection:
        while True:
            block = table[rng.integers(0, len(table), BLOCK)].tobytes()
            try:
                connection.sendall(HEADER.pack(len(block)) + block)
            except OSError:
                return


def read_exactly(connection, count):
    parts = []
    while count:
        part = connection.recv(min(count, 1 << 18))
        if not part:
            raise ConnectionError("station closed the connection")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class Receiver(threading.Thread):
    def __init__(self, address, depth=8):
        super().__init__(daemon=True)
        self.connection = socket.create_connection(address)
        self.blocks = queue.Queue(depth)

    def run(self):
        while True:
            (length,) = HEADER.unpack(read_exactly(self.connection, HEADER.size))
            block = np.frombuffer(read_exactly(self.connection, length), np.float32)
            self.blocks.put(block.reshape(-1, READINGS + 1))


class Ensemble:
    """MEMBERS small networks side by side; each learns from its own draw of the block (online bagging)."""

    def __init__(self, sizes, seed=0):
        self.rng = np.random.default_rng(seed)
        pairs = list(zip(sizes, sizes[1:]))
        self.w = [self.rng.normal(0, 1 / np.sqrt(a), (MEMBERS, a, b)).astype(np.float32) for a, b in pairs]
        self.b = [np.zeros((MEMBERS, 1, b), np.float32) for _, b in pairs]
        self.speed = [np.zeros_like(p) for p in self.w + self.b]

    def learn(self, readings, flux, lr=0.02):
        rows = self.rng.integers(0, len(flux), (MEMBERS, len(flux) // 2))
        kept, y = [readings[rows]], flux[rows]
        for w, b in zip(self.w[:-1], self.b[:-1]):
            kept.append(np.tanh(kept[-1] @ w + b))
        guess = (kept[-1] @ self.w[-1] + self.b[-1])[..., 0]
        error = guess - y
        d = (2 / error.shape[1] * error)[..., None]
        grads_w, grads_b = [], []
        for layer in reversed(range(len(self.w))):
            grads_w.insert(0, kept[layer].transpose(0, 2, 1) @ d)
            grads_b.insert(0, d.sum(1, keepdims=True))
            if layer:
                d = d @ self.w[layer].transpose(0, 2, 1)
                d *= 1 - kept[layer] ** 2
        for value, speed, grad in zip(self.w + self.b, self.speed, grads_w + grads_b):
            speed *= 0.9
            speed -= lr * grad
            value += speed
        return float(np.mean(error**2))


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    sender = multiprocessing.Process(target=station, args=(listener,), daemon=True)
    sender.start()
    receiver = Receiver(listener.getsockname())
    listener.close()
    receiver.start()
    ensemble = Ensemble([READINGS, 24, 24, 1])
    began = time.time()
    recent = []
    for update in range(1, 200_001):
        block = receiver.blocks.get()
        recent.append(ensemble.learn(block[:, :-1], block[:, -1]))
        if update % 50 == 0:
            spent = time.time() - began
            print(f"update {update:6d} loss {np.mean(recent):.4f} {update * BLOCK / spent:.0f} readings/s", flush=True)
            recent.clear()


if __name__ == "__main__":
    main()
