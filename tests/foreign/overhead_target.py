"""A target for overhead.py: works for a given time and prints how many steps it made. Any CPython, no numpy needed.

    overhead_target.py SECONDS THREADS CHILDREN

One thread computes in Python all the time; the other threads wake 20 times a second, as a framework's helpers do; the
children compute a little, as data loaders do.
"""
import multiprocessing
import sys
import threading
import time


def nap(until):
    while time.monotonic() < until:
        time.sleep(0.05)


def child(until):
    while time.monotonic() < until:
        sum(i * i for i in range(2000))
        time.sleep(0.02)


def step(weights):
    return [w + 1e-3 * (i - w) for i, w in enumerate(weights)]


def main():
    seconds, threads, children = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    until = time.monotonic() + seconds
    others = [multiprocessing.Process(target=child, args=(until,), daemon=True) for _ in range(children)]
    for other in others:
        other.start()
    for _ in range(threads - 1):
        threading.Thread(target=nap, args=(until,), daemon=True).start()
    print("ready", flush=True)
    weights, steps = [0.0] * 200, 0
    while time.monotonic() < until:
        weights = step(weights)
        steps += 1
    print(steps, flush=True)
    for other in others:
        other.join()


if __name__ == "__main__":
    main()
