# python: plain
import http.client
import multiprocessing as mp
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import numpy as np

COLUMNS = 96
HIDDEN = 256


def serve(ports):
    rng = np.random.default_rng(21)
    fields = rng.normal(size=(30000, COLUMNS)).astype(np.float32)
    effect = rng.normal(size=COLUMNS) / np.sqrt(COLUMNS)
    crop = np.tanh(fields @ effect) + 0.5 * fields[:, 0] * fields[:, 1] + rng.normal(0, 0.1, len(fields))
    table = np.column_stack([fields, crop]).astype(np.float32)

    class Rows(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            q = parse_qs(urlparse(self.path).query)
            start, count = int(q["start"][0]), int(q["count"][0])
            body = table[start:start + count].tobytes()
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Rows)
    ports.put(server.server_address[1])
    server.serve_forever()


class FeatureClient:
    def __init__(self, port):
        self.conn = http.client.HTTPConnection("127.0.0.1", port)

    def rows(self, start, count):
        self.conn.request("GET", f"/rows?start={start}&count={count}")
        response = self.conn.getresponse()
        block = np.frombuffer(response.read(), np.float32).reshape(-1, COLUMNS + 1)
        return block[:, :-1], block[:, -1:]


class YieldNet:
    def __init__(self, rng):
        self.w = [rng.normal(0, (2 / a) ** 0.5, (a, b)).astype(np.float32)
                  for a, b in ((COLUMNS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1))]
        self.speed = [np.zeros_like(w) for w in self.w]

    def forward(self, x):
        h1 = np.maximum(x @ self.w[0], 0)
        h2 = np.maximum(h1 @ self.w[1], 0)
        return h1, h2, h2 @ self.w[2]

    def fit_batch(self, x, y, lr=0.005):
        h1, h2, out = self.forward(x)
        d = 2 * (out - y) / len(x)
        d2 = (d @ self.w[2].T) * (h2 > 0)
        d1 = (d2 @ self.w[1].T) * (h1 > 0)
        for i, g in enumerate((x.T @ d1, h1.T @ d2, h2.T @ d)):
            self.speed[i] = 0.9 * self.speed[i] - lr * g
            self.w[i] += self.speed[i]
        return float(np.mean((out - y) ** 2))


def evaluate(net, port):
    client = FeatureClient(port)
    x, y = client.rows(28000, 2000)
    return float(np.mean((net.forward(x)[2] - y) ** 2))


if __name__ == "__main__":
    ports = mp.Queue()
    mp.Process(target=serve, args=(ports,), daemon=True).start()
    port = ports.get()
    rng = np.random.default_rng(0)
    net, client = YieldNet(rng), FeatureClient(port)
    began = time.time()
    for step in range(1, 1000000):
        x, y = client.rows(int(rng.integers(0, 27000)), 256)
        loss = net.fit_batch(x, y)
        if step % 20 == 0:
            print(f"{time.time() - began:6.1f}s step {step} mse {loss:.4f}", flush=True)
        if step % 120 == 0:
            print(f"        evaluation mse {evaluate(net, port):.4f}", flush=True)
