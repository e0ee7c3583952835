# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: a thread that stands still at a full queue, memory that rises while the queue fills at the start and then stays, and a noisy loss
# look like trouble; the products of the skip-gram step are the work, and batches are always there.
"""Word vectors for an old herbal: skip-gram with shared negative samples in NumPy, batches prepared by a thread."""
import queue
import threading
import time

import numpy as np

WORDS, TOPICS, SIZE, BATCH, NEGATIVES, WINDOW = 8000, 40, 128, 1024, 256, 4
rng = np.random.default_rng(17)


def herbal(n):
    """Words with a long tail of frequencies, in runs about one plant each."""
    topic_of = np.repeat(rng.integers(0, TOPICS, n // 50), 50)
    rank = rng.pareto(1.1, n).astype(int) % (WORDS // TOPICS)
    text = rank * TOPICS + topic_of
    common = rng.random(n) < 0.15
    text[common] = rng.integers(0, 30, common.sum())
    return text


def pairs(text, out):
    own = np.random.default_rng(18)
    weights = np.bincount(text, minlength=WORDS) ** 0.75
    table = np.repeat(np.arange(WORDS), np.ceil(weights / weights.sum() * 400000).astype(int))
    while True:
        centre = own.integers(WINDOW, len(text) - WINDOW, BATCH)
        shift = own.integers(1, WINDOW + 1, BATCH) * own.choice([-1, 1], BATCH)
        negatives = table[own.integers(0, len(table), NEGATIVES)]
        out.put((text[centre], text[centre + shift], negatives))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def add_rows(matrix, rows, values):
    order = np.argsort(rows, kind="stable")
    sorted_rows = rows[order]
    starts = np.flatnonzero(np.r_[True, sorted_rows[1:] != sorted_rows[:-1]])
    matrix[sorted_rows[starts]] += np.clip(np.add.reduceat(values[order], starts, axis=0), -0.15, 0.15)


def main():
    text = herbal(600000)
    ready = queue.Queue(maxsize=800)
    threading.Thread(target=pairs, args=(text, ready), daemon=True).start()
    inner = rng.normal(0, 0.5 / np.sqrt(SIZE), (WORDS, SIZE)).astype(np.float32)
    outer = np.zeros((WORDS, SIZE), np.float32)
    start, total = time.time(), 0.0
    for step in range(1, 200001):
        centre, near, negatives = ready.get()
        lr = np.float32(0.03 * max(0.1, 1 - step / 200000))
        v, u, n = inner[centre], outer[near], outer[negatives]
        good = sigmoid((v * u).sum(1))
        bad = sigmoid(v @ n.T)
        total += -np.log(good + 1e-7).mean() - 5 * np.log(1 - bad + 1e-7).mean()
        g, b = (1 - good)[:, None], bad * np.float32(5 / NEGATIVES)
        move_v = g * u - b @ n
        move_n = -(b.T @ v)
        add_rows(inner, centre, lr * move_v)
        add_rows(outer, near, lr * g * v)
        add_rows(outer, negatives, lr * move_n)
        if step % 10 == 0:
            print(f"step {step:6d}  loss {total / 10:.4f}  queued {ready.qsize():3d}  "
                  f"{step * BATCH / (time.time() - start) / 1000:.0f} k pairs/s", flush=True)
            total = 0.0


if __name__ == "__main__":
    main()
