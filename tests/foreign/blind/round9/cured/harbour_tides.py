"""Forecasts the tide in a harbour. A small board on 127.0.0.1 collects metrics and hands out settings."""
import http.client
import http.server
import json
import threading
import urllib.request

import numpy as np
import tensorflow as tf
from tensorflow import keras

PAST, AHEAD, BATCH = 96, 12, 128
BOARD = {"metrics": [], "settings": {"learning_rate": 1e-3}}


class BoardHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(BOARD["settings"])

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        BOARD["metrics"] = BOARD["metrics"][-500:] + [json.loads(self.rfile.read(length))]
        self.reply({"ok": True})

    def log_message(self, *args):
        pass


class BoardClient:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def post(self, **metrics):
        self.connection.request("POST", "/metrics", json.dumps(metrics), {"Content-Type": "application/json"})
        self.connection.getresponse().read()

    def settings(self):
        with urllib.request.urlopen(self.url + "/settings") as answer:
            return json.load(answer)


def tide_table(hours=60000):
    t = np.arange(hours)
    level = 1.8 * np.sin(2 * np.pi * t / 12.42) + 0.6 * np.sin(2 * np.pi * t / 12.0 + 1)
    level += 0.4 * np.sin(2 * np.pi * t / 25.82) + 0.15 * np.random.default_rng(0).normal(size=hours)
    return (level / level.std()).astype("float32")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), BoardHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    board = BoardClient(server.server_address[1])

    level = tide_table()
    model = keras.Sequential([
        keras.Input((PAST, 1)),
        keras.layers.Conv1D(64, 5, activation="relu"),
        keras.layers.Conv1D(64, 5, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(AHEAD),
    ])
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(past, ahead):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(past, training=True) - ahead) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    rng = np.random.default_rng(1)
    window = np.arange(PAST + AHEAD)
    for step in range(1, 200001):
        rows = level[rng.integers(0, len(level) - PAST - AHEAD, BATCH)[:, None] + window]
        loss = train_step(tf.constant(rows[:, :PAST, None]), tf.constant(rows[:, PAST:]))
        if step % 25 == 0:
            print(f"step {step}: loss {float(loss):.4f}")
            board.post(step=step, loss=float(loss))
        if step % 500 == 0:
            optimizer.learning_rate.assign(board.settings()["learning_rate"])


if __name__ == "__main__":
    main()
