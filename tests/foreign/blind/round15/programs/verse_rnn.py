# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# how: attach
# Why: a recurrent network in NumPy has to loop over time in Python; the products of matrices are the work, and one thread of Python
# with a second core partly idle is what such a program looks like. The loss is noisy and falls slowly.
"""A recurrent network writes verse, letter by letter."""
import random
import time

import numpy as np

WIDTH, BATCH, SPAN = 224, 64, 40


def verses(lines=30_000):
    draw = random.Random(6)
    syllables = [a + b + c for a in "bdfklmnrstw" for b in "aeiou" for c in ("", "", "n", "r", "l")]
    words = ["".join(draw.choice(syllables) for _ in range(draw.choice((1, 2, 2, 3)))) for _ in range(300)]
    return "\n".join(" ".join(words[min(int(draw.expovariate(0.02)), 299)] for _ in range(draw.randint(4, 7))) for _ in range(lines))


class Recurrent:
    def __init__(self, letters, rng):
        def matrix(a, b):
            return (rng.normal(size=(a, b)) / np.sqrt(a)).astype(np.float32)
        self.p = {"embed": matrix(letters, WIDTH), "one": matrix(WIDTH, WIDTH) * 0.9, "up": matrix(WIDTH, WIDTH),
                  "two": matrix(WIDTH, WIDTH) * 0.9, "out": matrix(WIDTH, letters), "bias": np.zeros(letters, np.float32)}
        self.mean = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.square = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.unit = np.eye(letters, dtype=np.float32)
        self.steps = 0

    def gradients(self, text, a, b):
        """Text is SPAN+1 by BATCH; a and b are the states of the two layers. Returns the loss, gradients and last states."""
        p, first, second, guesses, loss = self.p, [a], [b], [], 0.0
        for t in range(SPAN):
            first.append(np.tanh(p["embed"][text[t]] + first[-1] @ p["one"]))
            second.append(np.tanh(first[-1] @ p["up"] + second[-1] @ p["two"]))
            logits = second[-1] @ p["out"] + p["bias"]
            logits -= logits.max(1, keepdims=True)
            guess = np.exp(logits)
            guess /= guess.sum(1, keepdims=True)
            loss -= np.log(guess[np.arange(BATCH), text[t + 1]] + 1e-9).mean() / SPAN
            guesses.append(guess)
        g = {k: np.zeros_like(v) for k, v in p.items()}
        da, db = np.zeros_like(a), np.zeros_like(b)
        for t in reversed(range(SPAN)):
            d = guesses[t]
            d[np.arange(BATCH), text[t + 1]] -= 1
            d /= BATCH * SPAN
            g["out"] += second[t + 1].T @ d
            g["bias"] += d.sum(0)
            db = (d @ p["out"].T + db) * (1 - second[t + 1] ** 2)
            g["up"] += first[t + 1].T @ db
            g["two"] += second[t].T @ db
            da = (db @ p["up"].T + da) * (1 - first[t + 1] ** 2)
            g["one"] += first[t].T @ da
            g["embed"] += self.unit[text[t]].T @ da
            db, da = db @ p["two"].T, da @ p["one"].T
        return loss, g, first[-1], second[-1]

    def move(self, g, rate=1.5e-3):
        self.steps += 1
        norm = np.sqrt(sum(float((v ** 2).sum()) for v in g.values()))
        for k, v in g.items():
            v *= min(1.0, 1.0 / norm)
            self.mean[k] += 0.1 * (v - self.mean[k])
            self.square[k] += 0.01 * (v * v - self.square[k])
            fair = self.mean[k] / (1 - 0.9 ** self.steps)
            self.p[k] -= rate * fair / (np.sqrt(self.square[k] / (1 - 0.99 ** self.steps)) + 1e-8)


def main():
    text = verses()
    letters = sorted(set(text))
    index = {letter: i for i, letter in enumerate(letters)}
    codes = np.array([index[letter] for letter in text], np.int64)
    columns = codes[:len(codes) // BATCH * BATCH].reshape(BATCH, -1).T
    print(f"{len(codes)} letters, {len(letters)} different ones", flush=True)
    net = Recurrent(len(letters), np.random.default_rng(1))
    step, began = 0, time.time()
    for epoch in range(1, 201):
        a = b = np.zeros((BATCH, WIDTH), np.float32)
        for at in range(0, len(columns) - SPAN - 1, SPAN):
            loss, g, a, b = net.gradients(columns[at:at + SPAN + 1], a, b)
            net.move(g)
            step += 1
            if step % 2 == 0:
                print(f"epoch {epoch} step {step} loss {loss:.4f} {step / (time.time() - began):.2f} steps/s", flush=True)


if __name__ == "__main__":
    main()
