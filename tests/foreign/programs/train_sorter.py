# python: plain
# expected: worker-deadlock
# verdict: stuck
# seconds: 18
# where: with stats_lock / with batch_lock
# Why: two threads take the same two locks in opposite order; after a while each holds one and waits for the other.
import threading
import time

batch_lock = threading.Lock()
stats_lock = threading.Lock()
ready, seen = [], 0


def load():
    global seen
    n = 0
    while True:
        n += 1
        rows = [[(n * k + j) % 13 for j in range(64)] for k in range(64)]
        with batch_lock:
            ready.append(rows)
            time.sleep(0.002)
            with stats_lock:
                seen += 1


def main():
    threading.Thread(target=load, daemon=True, name="loader").start()
    weights = [0.0] * 64
    step = 0
    while True:
        with stats_lock:
            total = seen
            if total % 5 == 4:
                time.sleep(0.003)
            with batch_lock:
                rows = ready.pop() if ready else None
        if rows is None:
            time.sleep(0.01)
            continue
        for row in rows:
            weights = [w + 1e-3 * (v - w) for w, v in zip(weights, row)]
        step += 1
        print(f"step {step} of {total}", flush=True)


if __name__ == "__main__":
    main()
