# python: plain
# expected: waits-for-server [also accepted: network-storage, communication-bound, input-bound]
# verdict: slow
# env: OMP_WAIT_POLICY=passive
# seconds: 30
# where: store.lookup / self.reply.readline
# Why: every row of a batch asks the feature service on its own and waits for the answer; the service takes some milliseconds per call, and the batch request it offers is not used. The usual first integration of a feature store.
import json
import multiprocessing as mp
import socket
import socketserver
import time
import numpy as np

SHOPPERS, WIDTH, BATCH = 5000, 24, 32


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            ids = json.loads(line)
            time.sleep(0.004)
            rows = self.server.table[ids].round(4).tolist()
            self.wfile.write(json.dumps(rows).encode() + b"\n")


def serve(pipe):
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.table = np.random.default_rng(1).normal(size=(SHOPPERS, WIDTH))
    pipe.send(server.server_address)
    server.serve_forever()


class FeatureStore:
    def __init__(self, address):
        self.sock = socket.create_connection(address)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reply = self.sock.makefile("rb")

    def lookup(self, ids):
        self.sock.sendall(json.dumps([int(i) for i in ids]).encode() + b"\n")
        return np.array(json.loads(self.reply.readline()))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


class Net:
    def __init__(self, rng, hidden=48):
        self.w1 = rng.normal(size=(WIDTH, hidden)) / np.sqrt(WIDTH)
        self.w2 = rng.normal(size=hidden) / np.sqrt(hidden)

    def step(self, x, y, rate):
        h = np.tanh(x @ self.w1)
        p = sigmoid(h @ self.w2)
        err = (p - y) / len(y)
        back = np.outer(err, self.w2) * (1 - h ** 2)
        self.w2 -= rate * h.T @ err
        self.w1 -= rate * x.T @ back
        return -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9))


def main():
    ours, theirs = mp.Pipe()
    service = mp.Process(target=serve, args=(theirs,), daemon=True)
    service.start()
    store = FeatureStore(ours.recv())
    rng = np.random.default_rng(2)
    taste = rng.normal(size=WIDTH)
    net = Net(rng)
    for step in range(1, 100001):
        ids = rng.integers(0, SHOPPERS, BATCH)
        x = store.lookup(ids)
        y = (x @ taste + 0.5 * rng.normal(size=BATCH) > 0).astype(float)
        loss = net.step(x, y, 0.5)
        if step % 5 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
