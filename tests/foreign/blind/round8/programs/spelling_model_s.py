# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 30
# how: attach
# where: scorer.stdin.write / scorer.stdout.read
# Why: All suggestions are written to the scoring program before its answers are read: its output pipe fills, it stops reading, and both
#   sides wait for one another.
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz_"
CONTEXT = 6

SCORER = """
import sys
# word <tab> guess  ->  word, guess, edit distance
for line in sys.stdin:
    a, b = line.rstrip("\\n").split("\\t")
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (ca != cb))
    print(a, b, row[-1])
"""


def words(n, rng):
    syllables = ["ba", "ke", "lo", "min", "tor", "sa", "ri", "du", "pel", "gon", "ter", "vi"]
    return ["".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(n)]


def encode(vocabulary):
    rows, targets = [], []
    for w in vocabulary:
        padded = "_" * CONTEXT + w + "_"
        for i in range(CONTEXT, len(padded)):
            rows.append([LETTERS.index(c) for c in padded[i - CONTEXT:i]])
            targets.append(LETTERS.index(padded[i]))
    return np.array(rows), np.array(targets)


class LetterModel:
    def __init__(self, rng, hidden=512):
        self.w1 = rng.normal(0, 0.1, (CONTEXT * len(LETTERS), hidden)).astype(np.float32)
        self.w2 = rng.normal(0, 0.05, (hidden, len(LETTERS))).astype(np.float32)

    def probabilities(self, rows):
        x = np.eye(len(LETTERS), dtype=np.float32)[rows].reshape(len(rows), -1)
        h = np.maximum(x @ self.w1, 0)
        z = h @ self.w2
        e = np.exp(z - z.max(1, keepdims=True))
        return x, h, e / e.sum(1, keepdims=True)

    def step(self, rows, targets, lr=0.3):
        x, h, p = self.probabilities(rows)
        loss = -np.log(p[np.arange(len(rows)), targets] + 1e-9).mean()
        p[np.arange(len(rows)), targets] -= 1
        p /= len(rows)
        back = (p @ self.w2.T) * (h > 0)
        self.w2 -= lr * h.T @ p
        self.w1 -= lr * x.T @ back
        return loss


def edit_distance(script, pairs):
    scorer = subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for word, guess in pairs:
        scorer.stdin.write(f"{word}\t{guess}\n")
    scorer.stdin.close()
    answers = scorer.stdout.read()
    scorer.wait()
    return np.mean([int(line.split()[2]) for line in answers.splitlines()])


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    script = Path(tempfile.mkdtemp()) / "score.py"
    script.write_text(SCORER)
    vocabulary = words(20000, rng)
    rows, targets = encode(vocabulary)
    model, began = LetterModel(rng), time.time()
    for step in range(1, 1_000_000):
        pick = rng.integers(0, len(rows), 512)
        loss = model.step(rows[pick], targets[pick])
        if step % 50 == 0:
            print(f"{time.time() - began:6.1f}s step {step} loss {loss:.4f}", flush=True)
        if step % 400 == 0:
            guesses = LETTERS[int(model.probabilities(rows[:1])[2].argmax())]
            distance = edit_distance(script, [(w, w[:-1] + guesses) for w in vocabulary])
            print(f"mean edit distance {distance:.3f}", flush=True)
