# python: plain
# expected: worker-died
# verdict: stuck
# seconds: 18
# how: attach
# where: .get(
# Why: a producer process leaves by os._exit in the middle of its work (a native library calls exit on an error); the
# consumer waits in Queue.get for batches that nobody makes any more.
import multiprocessing
import os

import time


def produce(shard, out):
    for batch in range(200):
        rows = [[(shard * 31 + batch * 7 + k) % 101 / 101 for k in range(256)] for _ in range(32)]
        if batch == 60:
            os._exit(1)
        out.put(rows)
    out.put(None)


def main():
    batches = multiprocessing.Queue(maxsize=4)
    multiprocessing.Process(target=produce, args=(3, batches), daemon=True).start()
    weights = [0.0] * 256
    step = 0
    while True:
        rows = batches.get()
        if rows is None:
            break
        for row in rows:
            weights = [w + 1e-3 * (v - w) for w, v in zip(weights, row)]
        step += 1
        if step % 10 == 0:
            print(f"step {step} mean {sum(weights) / 256:.4f}", flush=True)
        time.sleep(0.01)


if __name__ == "__main__":
    main()
