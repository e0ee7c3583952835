# python: plain
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 35
# where: gc.collect
# Why: gc.collect() in each step "to keep memory low" walks the millions of Python objects of the adjacency lists every time and frees nothing.
import gc
import random
import time

import numpy as np

NODES, DIM, BATCH = 60000, 48, 512


def make_graph(rng):
    """Neighbours with their edge attributes, as read from the export."""
    graph = {}
    for node in range(NODES):
        group = node // 300
        neighbours = []
        for _ in range(8):
            other = group * 300 + int(rng.random() * 300) if rng.random() < 0.9 else int(rng.random() * NODES)
            neighbours.append([other % NODES, {"weight": rng.random()}])
        graph[node] = neighbours
    return graph


def sample_pairs(graph, rng):
    left, right = [], []
    for _ in range(BATCH):
        node = rng.randrange(NODES)
        left.append(node)
        right.append(rng.choice(graph[node])[0])
    return np.array(left), np.array(right)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))


def train_step(vectors, left, right, noise, rate):
    a, b, c = vectors[left], vectors[right], vectors[noise]
    good, bad = sigmoid((a * b).sum(axis=1)), sigmoid((a * c).sum(axis=1))
    push, pull = (good - 1)[:, None], bad[:, None]
    np.subtract.at(vectors, left, rate * (push * b + pull * c))
    np.subtract.at(vectors, right, rate * push * a)
    np.subtract.at(vectors, noise, rate * pull * a)
    return -np.mean(np.log(good + 1e-9) + np.log(1 - bad + 1e-9))


def main():
    rng, nrng = random.Random(4), np.random.default_rng(4)
    graph = make_graph(rng)
    vectors = nrng.normal(0, 0.3, (NODES, DIM))
    print(f"{NODES} nodes, {sum(map(len, graph.values()))} edges", flush=True)
    started, total = time.time(), 0.0
    for step in range(1, 100001):
        left, right = sample_pairs(graph, rng)
        noise = nrng.integers(0, NODES, BATCH)
        total += train_step(vectors, left, right, noise, rate=0.2)
        gc.collect()
        if step % 10 == 0:
            print(f"step {step}  loss {total / 10:.4f}  {time.time() - started:.1f} s", flush=True)
            total = 0.0


if __name__ == "__main__":
    main()
