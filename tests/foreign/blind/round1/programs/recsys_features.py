# python: plain
# expected: waits-for-server [also accepted: input-bound, communication-bound]
# verdict: slow
# seconds: 35
# where: stream.readline / lookup(
# Why: every step asks the feature store for the users of its batch, one request per step and no reading ahead; the store answers from a slow backend, and training waits for it.
import json
import socket
import socketserver
import threading
import time

import numpy as np

USERS, ITEMS, DIM, BATCH = 5000, 800, 16, 256


class FeatureStore(socketserver.StreamRequestHandler):
    """The department's feature store; every query goes on to its database."""
    table = np.random.default_rng(1).normal(size=(USERS, DIM)).round(3)
    latency = 0.08

    def handle(self):
        for line in self.rfile:
            users = json.loads(line)
            time.sleep(self.latency)
            self.wfile.write(json.dumps(self.table[users].tolist()).encode() + b"\n")


def serve():
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), FeatureStore)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address


class StoreClient:
    def __init__(self, address):
        self.stream = socket.create_connection(address).makefile("rwb")

    def lookup(self, users):
        self.stream.write(json.dumps(users.tolist()).encode() + b"\n")
        self.stream.flush()
        return np.array(json.loads(self.stream.readline()))


class ClickModel:
    def __init__(self, rng, width=64):
        self.items = rng.normal(0, 0.1, (ITEMS, width))
        self.lift = rng.normal(0, 0.3, (DIM, width))

    def step(self, features, items, clicks, rate=0.3):
        user = np.tanh(features @ self.lift)
        score = 1 / (1 + np.exp(-(user * self.items[items]).sum(axis=1)))
        error = (score - clicks) / len(clicks)
        back = error[:, None] * self.items[items] * (1 - user ** 2)
        np.subtract.at(self.items, items, rate * 20 * error[:, None] * user)
        self.lift -= rate * features.T @ back
        return -np.mean(clicks * np.log(score + 1e-9) + (1 - clicks) * np.log(1 - score + 1e-9))


def main():
    rng = np.random.default_rng(2)
    client = StoreClient(serve())
    truth = rng.normal(size=(DIM, ITEMS))
    model, started = ClickModel(rng), time.time()
    for step in range(1, 50001):
        users, items = rng.integers(0, USERS, BATCH), rng.integers(0, ITEMS, BATCH)
        features = client.lookup(users)
        clicks = ((features * truth[:, items].T).sum(axis=1) > 0).astype(float)
        loss = model.step(features, items, clicks)
        if step % 20 == 0:
            print(f"step {step}  loss {loss:.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
