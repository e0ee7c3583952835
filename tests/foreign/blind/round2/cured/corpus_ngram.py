# python: plain
# expected: waits-for-pipe
# verdict: stuck|not-started
# env: OMP_WAIT_POLICY=passive
# seconds: 30
# where: proc.stdin.write
# Why: the whole corpus is written to a filter program before anything of its answer is read: both pipes fill up and each side waits for the other. Works with small files, hangs with real ones.
import os
import subprocess
import sys
import tempfile
import numpy as np

NORMALISE = """
import re, sys
for line in sys.stdin:
    words = re.findall(r"[a-z]+", line.lower())
    print(" ".join(words))
"""
rng = np.random.default_rng(83)


def write_corpus(path, lines=20000):
    syll = ["Ba", "ne", "tor", "il", "um", "sa", "ke", "Ri", "dol", "va"]
    words = ["".join(rng.choice(syll, rng.integers(1, 4))) for _ in range(400)]
    follow = rng.integers(0, 400, (400, 6))
    with open(path, "w") as f:
        for _ in range(lines):
            k = int(rng.integers(400))
            out = []
            for _ in range(12):
                out.append(words[k])
                k = int(follow[k, rng.integers(6)])
            f.write(", ".join(out) + ".\n")


def clean(text, script):
    proc = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return proc.communicate(text)[0].splitlines()


def windows(lines):
    vocab = {}
    rows = []
    for line in lines:
        ids = [vocab.setdefault(w, len(vocab)) for w in line.split()]
        rows += [ids[i:i + 3] for i in range(len(ids) - 2)]
    return np.array(rows), len(vocab)


def main():
    with tempfile.TemporaryDirectory() as folder:
        corpus, script = os.path.join(folder, "corpus.txt"), os.path.join(folder, "normalise.py")
        write_corpus(corpus)
        with open(script, "w") as f:
            f.write(NORMALISE)
        with open(corpus) as f:
            lines = clean(f.read(), script)
    rows, size = windows(lines)
    print(f"{len(lines)} lines, {len(rows)} windows, {size} words", flush=True)
    emb = 0.1 * rng.normal(size=(size, 16))
    out = 0.1 * rng.normal(size=(32, size))
    for step in range(1, 200001):
        b = rows[rng.integers(0, len(rows), 128)]
        h = emb[b[:, :2]].reshape(128, 32)
        z = h @ out
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(128), b[:, 2]]).mean()
        p[np.arange(128), b[:, 2]] -= 1
        back = (p @ out.T).reshape(128, 2, 16)
        out -= 1.0 / 128 * h.T @ p
        np.subtract.at(emb, b[:, :2], 1.0 / 128 * back)
        if step % 200 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
