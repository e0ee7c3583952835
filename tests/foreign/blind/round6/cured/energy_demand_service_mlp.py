# python: plain
# expected: waits-for-server
# verdict: stuck
# seconds: 30
# where: getresponse / check = fetch
# Why: the feature service is a plain HTTPServer with keep-alive; it serves the first connection until that closes, so the second one,
#   opened for the check data, is accepted by the kernel and never answered.
"""Demand forecast. Hours of weather and load come from the feature service, in chunks."""
import http.client
import multiprocessing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

CHUNK, WIDTH = 256, 32


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        seed = int(self.path.rsplit("/", 1)[1])
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(CHUNK, WIDTH)).astype(np.float32)
        y = np.tanh(x[:, :1] * 2) + x[:, 1:2] * x[:, 2:3] + 0.1 * rng.normal(size=(CHUNK, 1)).astype(np.float32)
        body = np.concatenate([x, y], 1).astype(np.float32).tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def service(pipe):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pipe.send(server.server_port)
    server.serve_forever()


def fetch(connection, path):
    connection.request("GET", path)
    body = connection.getresponse().read()
    table = np.frombuffer(body, np.float32).reshape(CHUNK, WIDTH + 1)
    return table[:, :-1], table[:, -1:]


class Forecast:
    def __init__(self, hidden=384):
        rng = np.random.default_rng(0)
        self.p = [rng.normal(0, 0.2, (WIDTH, hidden)), np.zeros(hidden), rng.normal(0, 0.07, (hidden, hidden)), np.zeros(hidden),
                  rng.normal(0, 0.07, (hidden, 1)), np.zeros(1)]

    def forward(self, x):
        a = np.maximum(x @ self.p[0] + self.p[1], 0)
        b = np.maximum(a @ self.p[2] + self.p[3], 0)
        return a, b, b @ self.p[4] + self.p[5]

    def step(self, x, y, rate=0.02):
        a, b, out = self.forward(x)
        d = 2 * (out - y) / len(y)
        db = (d @ self.p[4].T) * (b > 0)
        da = (db @ self.p[2].T) * (a > 0)
        grads = [x.T @ da, da.sum(0), a.T @ db, db.sum(0), b.T @ d, d.sum(0)]
        for p, g in zip(self.p, grads):
            p -= rate * g
        return float(((out - y) ** 2).mean())


if __name__ == "__main__":
    here, there = multiprocessing.Pipe()
    child = multiprocessing.Process(target=service, args=(there,), daemon=True)
    child.start()
    port = here.recv()
    stream = http.client.HTTPConnection("127.0.0.1", port)
    model = Forecast()
    for step in range(1, 10 ** 7):
        x, y = fetch(stream, f"/hours/{step}")
        loss = model.step(x, y)
        if step % 20 == 0:
            print(f"step {step:6d}  mse {loss:.4f}", flush=True)
        if step % 200 == 0:
            second = http.client.HTTPConnection("127.0.0.1", port)
            check = fetch(second, "/check/0")
            second.close()
            print(f"        check {np.mean((model.forward(check[0])[2] - check[1]) ** 2):.4f}", flush=True)
