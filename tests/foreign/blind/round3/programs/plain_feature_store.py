# python: plain
# expected: waits-for-server [also accepted: communication-bound, input-bound]
# verdict: slow
# seconds: 30
# how: attach
# where: recv_exact( / sock.recv( / fetch(
# Why: every step asks the feature store over a socket and sends its request in two small pieces; Nagle's algorithm holds the second back until
# the delayed acknowledgement of the first, 40 ms later. The step waits for the answer nearly all of its time.
import multiprocessing as mp
import socket
import struct
import numpy as np

USERS, DIM, BATCH = 20000, 48, 64
HEADER = struct.Struct("!II")


def recv_exact(sock, n):
    parts = []
    while n:
        part = sock.recv(n)
        if not part:
            raise ConnectionError("feature store closed the connection")
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def serve(listener):
    table = np.random.default_rng(0).standard_normal((USERS, DIM)).astype("float32")
    conn, _ = listener.accept()
    while True:
        version, count = HEADER.unpack(recv_exact(conn, HEADER.size))
        ids = np.frombuffer(recv_exact(conn, 4 * count), "int32")
        conn.sendall(table[ids].tobytes())


class FeatureStore:
    def __init__(self, address):
        self.sock = socket.create_connection(address)

    def fetch(self, ids):
        self.sock.sendall(HEADER.pack(1, len(ids)))
        self.sock.sendall(ids.astype("int32").tobytes())
        raw = recv_exact(self.sock, 4 * DIM * len(ids))
        return np.frombuffer(raw, "float32").reshape(len(ids), DIM)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    mp.get_context("fork").Process(target=serve, args=(listener,), daemon=True).start()
    store = FeatureStore(listener.getsockname())
    rng = np.random.default_rng(1)
    truth = rng.standard_normal(DIM)
    w1 = rng.standard_normal((DIM, 64)) * 0.1
    w2 = rng.standard_normal(64) * 0.1
    lr, running = 0.05, 0.0
    for step in range(1, 1000001):
        ids = rng.integers(0, USERS, BATCH)
        x = store.fetch(ids)
        y = (x @ truth > 0).astype("float64")
        h = np.tanh(x @ w1)
        p = 1 / (1 + np.exp(-h @ w2))
        loss = -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9))
        d = (p - y) / BATCH
        dh = np.outer(d, w2) * (1 - h ** 2)
        w2 -= lr * (h.T @ d)
        w1 -= lr * (x.T @ dh)
        running = loss if step == 1 else 0.98 * running + 0.02 * loss
        if step % 20 == 0:
            print(f"step {step} loss {running:.4f}", flush=True)


if __name__ == "__main__":
    main()
