# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the main process sits in recv and accept nearly all the time, and every step of the workers travels over a socket on this
# machine; but what travels is small beside the products of a batch, both workers are busy, and the loss falls.
"""Headway classes of tram lines: a network trained by two workers around a small parameter server."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import multiprocessing as mp
import pickle
import socket
import struct
import threading
import time

import numpy as np

INPUTS, HIDDEN, CLASSES, BATCH = 32, 96, 8, 3000


def send(sock, thing):
    body = pickle.dumps(thing, protocol=4)
    sock.sendall(struct.pack("!I", len(body)) + body)


def receive(sock):
    def exactly(n):
        parts = []
        while n:
            piece = sock.recv(min(n, 1 << 16))
            if not piece:
                raise EOFError
            parts.append(piece)
            n -= len(piece)
        return b"".join(parts)
    return pickle.loads(exactly(struct.unpack("!I", exactly(4))[0]))


def timetable(rng, n):
    truth = np.random.default_rng(77)
    a, b = truth.standard_normal((INPUTS, 24)), truth.standard_normal((24, CLASSES))
    x = rng.standard_normal((n, INPUTS)).astype(np.float32)
    y = (np.tanh(x @ a / 3) @ b + 0.5 * rng.standard_normal((n, CLASSES))).argmax(1)
    return x, y


def gradients(params, x, y):
    w1, b1, w2, b2 = params
    pre = x @ w1 + b1
    h = np.maximum(pre, 0)
    z = h @ w2 + b2
    z -= z.max(1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(1, keepdims=True)
    loss = float(-np.log(p[np.arange(len(y)), y] + 1e-9).mean())
    p[np.arange(len(y)), y] -= 1
    p /= len(y)
    dh = (p @ w2.T) * (pre > 0)
    return loss, [x.T @ dh, dh.sum(0), h.T @ p, p.sum(0)]


def worker(number, port):
    rng = np.random.default_rng(number)
    with socket.create_connection(("127.0.0.1", port)) as sock:
        params = receive(sock)
        while params is not None:
            x, y = timetable(rng, BATCH)
            send(sock, gradients(params, x, y))
            params = receive(sock)


class Server:
    def __init__(self, steps):
        rng = np.random.default_rng(0)
        self.params = [(rng.standard_normal((INPUTS, HIDDEN)) / 6).astype(np.float32), np.zeros(HIDDEN, np.float32),
                       (rng.standard_normal((HIDDEN, CLASSES)) / 10).astype(np.float32), np.zeros(CLASSES, np.float32)]
        self.speed = [np.zeros_like(p) for p in self.params]
        self.lock, self.step, self.steps, self.began = threading.Lock(), 0, steps, time.time()

    def serve(self, sock):
        while self.step < self.steps:
            with self.lock:
                copy = [p.copy() for p in self.params]
            send(sock, copy)
            loss, grads = receive(sock)
            with self.lock:
                for p, v, g in zip(self.params, self.speed, grads):
                    v *= 0.9
                    v -= 0.05 * g
                    p += v
                self.step += 1
                if self.step % 25 == 0:
                    print(f"step {self.step} loss {loss:.4f} {self.step / (time.time() - self.began):.1f} steps/s", flush=True)
        send(sock, None)


def main():
    server = Server(steps=200_000)
    with socket.create_server(("127.0.0.1", 0)) as door:
        for n in range(2):
            mp.Process(target=worker, args=(n + 1, door.getsockname()[1]), daemon=True).start()
        threads = [threading.Thread(target=server.serve, args=(door.accept()[0],)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


if __name__ == "__main__":
    main()
