# python: plain
# expected: waits-for-server [also accepted: input-bound, network-storage, communication-bound]
# verdict: slow
# seconds: 30
# where: self.reader.readline / self.request / store.fetch
# Why: The features of each row are asked for one by one from the feature store, and every answer takes a few milliseconds, so a step is mostly waiting. The store can answer many ids at once.
import json
import socket
import socketserver
import threading
import time

import numpy as np

ITEMS, FEATURES, BATCH = 3000, 48, 32


class StoreHandler(socketserver.StreamRequestHandler):
    table = None

    def handle(self):
        for line in self.rfile:
            ids = json.loads(line)["ids"]
            time.sleep(0.004)
            rows = [self.table[i].tolist() for i in ids]
            self.wfile.write((json.dumps(rows) + "\n").encode())


class FeatureStore:
    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("r")

    def request(self, ids):
        self.socket.sendall((json.dumps({"ids": ids}) + "\n").encode())
        return json.loads(self.reader.readline())

    def fetch(self, ids):
        rows = [self.request([int(i)])[0] for i in ids]
        return np.array(rows, dtype=np.float32)


class Ranker:
    def __init__(self, rng, hidden=64):
        self.w1 = rng.standard_normal((FEATURES, hidden)) * 0.1
        self.w2 = rng.standard_normal(hidden) * 0.1

    def step(self, a, b, lr=0.05):
        """a should be ranked above b."""
        ha, hb = np.tanh(a @ self.w1), np.tanh(b @ self.w1)
        margin = ha @ self.w2 - hb @ self.w2
        loss = np.log1p(np.exp(-margin)).mean()
        g = -1 / (1 + np.exp(margin)) / len(a)
        d1 = a.T @ (g[:, None] * self.w2 * (1 - ha ** 2)) - b.T @ (g[:, None] * self.w2 * (1 - hb ** 2))
        self.w2 -= lr * (g @ (ha - hb))
        self.w1 -= lr * d1
        return loss


def main():
    rng = np.random.default_rng(1)
    StoreHandler.table = rng.standard_normal((ITEMS, FEATURES)).round(4)
    quality = StoreHandler.table @ rng.standard_normal(FEATURES)
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), StoreHandler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    store = FeatureStore(server.server_address)
    model = Ranker(rng)
    for step in range(1, 200000):
        i = rng.integers(0, ITEMS, BATCH)
        j = rng.integers(0, ITEMS, BATCH)
        swap = quality[i] < quality[j]
        i[swap], j[swap] = j[swap], i[swap]
        loss = model.step(store.fetch(i), store.fetch(j))
        if step % 5 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
