# python: plain
# expected: worker-died
# verdict: stuck
# env: OMP_WAIT_POLICY=passive
# seconds: 30
# where: pool.imap / for x, y in
# Why: one trace carries a broken length, the native read in a pool worker ends in a segmentation fault; multiprocessing.Pool starts a new worker but waits for the lost result for ever. Happens with every C decoder behind a Pool.
import ctypes
import multiprocessing as mp
import os
import struct
import tempfile
import numpy as np

LENGTH, BATCH = 2048, 16


def write_traces(path, n=2400):
    rng = np.random.default_rng(77)
    offsets = []
    with open(path, "wb") as f:
        for i in range(n):
            event = int(rng.random() < 0.5)
            trace = rng.normal(0, 200, LENGTH)
            if event:
                at = rng.integers(200, 1500)
                trace[at:at + 300] += 900 * np.sin(np.arange(300) / 6) * np.exp(-np.arange(300) / 90)
            samples = LENGTH if i != 700 else 0x08000000
            offsets.append(f.tell())
            f.write(struct.pack("<iI", event, samples) + trace.astype("<i2").tobytes())
    return offsets


def read_trace(job):
    path, offset = job
    with open(path, "rb") as f:
        f.seek(offset)
        record = f.read(8 + 2 * LENGTH)
    event, samples = struct.unpack_from("<iI", record)
    buffer = ctypes.create_string_buffer(record[8:])
    raw = ctypes.string_at(ctypes.addressof(buffer), 2 * samples)
    trace = np.frombuffer(raw, "<i2").astype(np.float32) / 1000
    spec = np.abs(np.fft.rfft(trace.reshape(16, -1) * np.hanning(LENGTH // 16), axis=1))
    return np.log1p(spec).ravel(), event


def batches(pool, path, offsets):
    xs, ys = [], []
    for x, y in pool.imap(read_trace, [(path, o) for o in offsets], chunksize=4):
        xs.append(x)
        ys.append(y)
        if len(xs) == BATCH:
            yield np.stack(xs), np.array(ys)
            xs, ys = [], []


def main():
    with tempfile.TemporaryDirectory() as folder, mp.Pool(2) as pool:
        path = os.path.join(folder, "traces.bin")
        offsets = write_traces(path)
        w, b, step = None, 0.0, 0
        for epoch in range(200):
            for x, y in batches(pool, path, offsets):
                w = np.zeros(x.shape[1]) if w is None else w
                p = 1 / (1 + np.exp(-(x @ w + b)))
                w -= 0.01 * x.T @ (p - y) / len(y)
                b -= 0.01 * np.mean(p - y)
                step += 1
                if step % 10 == 0:
                    loss = -np.mean(np.log(np.where(y == 1, p, 1 - p) + 1e-9))
                    print(f"epoch {epoch} step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
