# python: plain
# expected: worker-deadlock
# verdict: stuck
# seconds: 18
# where: with stats_lock / with batch_lock
# Why: two threads take the same two locks in opposite order; when the loader is held up with the first in its hand (here
# by a write to disk, after 40 batches), each holds one and waits for the other, for ever.
import os
import tempfile
import threading
import time

batch_lock = threading.Lock()
stats_lock = threading.Lock()
ready, seen = [], 0


def spill(rows):
    with tempfile.TemporaryFile("w") as out:
        out.write(repr(rows * 20))
        out.flush()
        os.fsync(out.fileno())


def load():
    global seen
    n = 0
    while True:
        n += 1
        rows = [[(n * k + j) % 13 for j in range(64)] for k in range(64)]
        with batch_lock:
            ready.append(rows)
            if n % 40 == 0:
                spill(rows)
            with stats_lock:
                seen += 1


def main():
    threading.Thread(target=load, daemon=True, name="loader").start()
    weights = [0.0] * 64
    step = 0
    while True:
        with stats_lock:
            total = seen
            with batch_lock:
                rows = ready.pop() if ready else None
        if rows is None:
            time.sleep(0.001)
            continue
        for row in rows:
            weights = [w + 1e-3 * (v - w) for w, v in zip(weights, row)]
        step += 1
        print(f"step {step} of {total}", flush=True)


if __name__ == "__main__":
    main()
