# python: plain
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: a reader thread that waits on a full queue, files read again and again, and a checkpoint with fsync every few seconds: all of it beside the
# training, which computes all the time.
import os
import queue
import tempfile
import threading
import numpy as np

BUCKETS, FIELDS, ROWS, SHARDS = 2 ** 16, 24, 40000, 8
folder = tempfile.mkdtemp(prefix="ctr_")
rng = np.random.default_rng(7)
hidden = rng.standard_normal(BUCKETS) * 0.4
for k in range(SHARDS):
    idx = (rng.random((ROWS, FIELDS)) ** 3 * BUCKETS).astype("int32")
    prob = 1 / (1 + np.exp(-hidden[idx].sum(axis=1) + 1))
    np.savez(os.path.join(folder, f"day_{k}.npz"), idx=idx, clicked=rng.random(ROWS) < prob)


def reader(out):
    order = np.random.default_rng(0)
    while True:
        for k in order.permutation(SHARDS):
            with np.load(os.path.join(folder, f"day_{k}.npz")) as z:
                out.put((z["idx"], z["clicked"]))


def save(path, step, w, n):
    with open(path + ".tmp", "wb") as f:
        np.savez(f, step=step, w=w, n=n)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".tmp", path)


shards = queue.Queue(maxsize=2)
threading.Thread(target=reader, args=(shards,), daemon=True).start()
w = np.zeros(BUCKETS, "float32")
n = np.full(BUCKETS, 1e-3, "float32")
step, average = 0, 0.69
while step < 600000:
    idx, clicked = shards.get()
    for at in range(0, len(idx), 4000):
        rows, y = idx[at:at + 4000], clicked[at:at + 4000].astype("float32")
        p = 1 / (1 + np.exp(-np.clip(w[rows].sum(axis=1), -15, 15)))
        loss = -np.mean(np.where(y > 0, np.log(p + 1e-7), np.log(1 - p + 1e-7)))
        g = np.bincount(rows.ravel(), weights=np.repeat(p - y, FIELDS), minlength=BUCKETS).astype("float32")
        n += g * g
        w -= 0.05 * g / np.sqrt(n)
        step += 1
        average = 0.98 * average + 0.02 * loss
        if step % 100 == 0:
            print(f"step {step} logloss {average:.4f}", flush=True)
        if step % 2500 == 0:
            save(os.path.join(folder, "ctr.npz"), step, w, n)
