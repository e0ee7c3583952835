# python: plain
# expected: worker-died
# verdict: stuck
# seconds: 18
# Why: one worker of a multiprocessing.Pool is killed (SIGKILL, as the kernel does when memory is short) with a task in
# its hands. The pool starts another worker, but the task is lost: the parent waits for its answer for ever.
import multiprocessing
import os
import signal
import time


def features(page):
    if page == 40:
        os.kill(os.getpid(), signal.SIGKILL)
    total = 0
    for i in range(300000):
        total += (i * page) % 97
    return total


def main():
    with multiprocessing.Pool(2) as pool:
        done = pool.map(features, range(100), chunksize=1)
    started = time.time()
    weights = [0.0] * 10
    for epoch in range(10):
        for value in done:
            weights[value % 10] += 1e-3 * value
        print(f"epoch {epoch} {time.time() - started:.1f}s", flush=True)


if __name__ == "__main__":
    main()
