# python: torch
# truth: step=computes, ask=waits for socket, log=logs, rest=sleeps
# Why: each step asks a process on this machine for weights of its samples; a logger writes every loss; the loop gives way.
import json
import logging
import multiprocessing
import os
import socket
import tempfile
import time

import torch
from torch import nn

from stopwatch import part, started


def serve(listener):
    """Answers each request with a number of weights, after looking them up in a table that takes its time."""
    client, _ = listener.accept()
    while True:
        count = client.recv(16)
        if not count:
            return
        until = time.monotonic() + 0.03
        while time.monotonic() < until:
            time.sleep(0.005)
        client.sendall(bytes(int(count)))


def receive(connection, count):
    parts = []
    while count > 0:
        parts.append(connection.recv(count))
        count -= len(parts[-1])
    return b"".join(parts)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    multiprocessing.get_context("fork").Process(target=serve, args=(listener,), daemon=True).start()
    weights_server = socket.create_connection(listener.getsockname())
    logging.basicConfig(filename=os.path.join(tempfile.mkdtemp(), "losses.log"), level=logging.INFO)
    log = logging.getLogger("city")
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(512, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    sounds, levels = torch.randn(8_192, 512), torch.rand(8_192, 1)
    history, step = [0.0] * 500, 0
    started()
    while True:
        pick = torch.arange(256) + (step * 256) % 7_936
        with part("ask"):
            weights_server.sendall(b"256")
            received = receive(weights_server, 256)
        with part("step"):
            weights = torch.frombuffer(bytearray(received), dtype=torch.uint8).float() + 1
            loss = (weights[:, None] * (model(sounds[pick]) - levels[pick]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
        history.append(loss.item())
        with part("log"):
            for age, value in enumerate(history[-500:]):
                log.info("%s", json.dumps({"age": 500 - age, "loss": value}))
        with part("rest"):
            time.sleep(0.01)
        if step % 20 == 0:
            print(f"step {step} loss {history[-1]:.4f}", flush=True)


if __name__ == "__main__":
    main()
