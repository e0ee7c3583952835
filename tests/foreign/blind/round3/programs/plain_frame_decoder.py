# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 35
# where: proc.stdout.read( / stderr=subprocess.PIPE
# Why: the decoder's messages go to a pipe that nobody reads; when its 64 KB are full the decoder waits to write and the training waits to read.
# Happens with ffmpeg and its progress lines.
import os
import subprocess
import sys
import tempfile
import numpy as np

SIDE = 64
DECODER = '''
import sys
import numpy as np
side, frames = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
yy, xx = np.mgrid[0:side, 0:side]
for n in range(frames):
    cx, cy, r = rng.uniform(10, 54), rng.uniform(10, 54), rng.uniform(4, 14)
    spectrum = np.fft.rfft2(rng.standard_normal((side, side)))
    noise = np.fft.irfft2(spectrum / (1 + np.arange(side // 2 + 1)))
    frame = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r) + 0.3 * noise
    if n % 12 == 0:
        sys.stderr.write(f"frame={n:6d} q={r:5.2f} size={frame.nbytes // 1024}kB time={n / 25:9.2f} bitrate=N/A speed=1.0x\\n")
        sys.stderr.flush()
    sys.stdout.buffer.write(np.float32([r / 14]).tobytes() + frame.astype("float32").tobytes())
    sys.stdout.buffer.flush()
'''


def frames(folder, count):
    script = os.path.join(folder, "decode.py")
    with open(script, "w") as f:
        f.write(DECODER)
    proc = subprocess.Popen([sys.executable, script, str(SIDE), str(count)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    size = 4 * (SIDE * SIDE + 1)
    while True:
        raw = proc.stdout.read(size)
        if len(raw) < size:
            break
        values = np.frombuffer(raw, "float32")
        yield values[1:].reshape(SIDE, SIDE), values[0]
    if proc.wait() != 0:
        raise RuntimeError(proc.stderr.read().decode())


def features(frame):
    small = frame.reshape(16, 4, 16, 4).mean(axis=(1, 3)).ravel()
    return np.concatenate([small, small ** 2, [1.0]])


rng = np.random.default_rng(1)
w1 = rng.standard_normal((513, 32)) * 0.05
w2 = rng.standard_normal(32) * 0.1
lr, batch, step = 0.01, [], 0
for epoch in range(20):
    for frame, radius in frames(tempfile.mkdtemp(), 50000):
        batch.append((features(frame), radius))
        if len(batch) < 8:
            continue
        x = np.array([b[0] for b in batch])
        y = np.array([b[1] for b in batch])
        batch = []
        h = np.tanh(x @ w1)
        error = h @ w2 - y
        grad_h = np.outer(error, w2) * (1 - h ** 2)
        w2 -= lr * h.T @ error / len(y)
        w1 -= lr * x.T @ grad_h / len(y)
        step += 1
        if step % 50 == 0:
            print(f"epoch {epoch} step {step} mse {np.mean(error ** 2):.5f}", flush=True)
