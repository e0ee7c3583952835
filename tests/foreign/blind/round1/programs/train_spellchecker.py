# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 30
# where: in proc.stdout / stderr=subprocess.PIPE
# Why: the tokenizer process warns on stderr for every odd word; nobody reads that pipe, it fills, the child blocks in write and the parent waits for the child's stdout.
import subprocess
import sys
import tempfile
import time

import numpy as np

TOKENIZER = r'''
import sys
for number, line in enumerate(sys.stdin):
    words = line.split()
    ids = []
    for word in words:
        if not word.isalpha():
            sys.stderr.write("tokenizer: line %d: unusual token %r kept as it is\n" % (number, word))
        ids.append(sum((i + 1) * ord(c) for i, c in enumerate(word)) % 2000)
    print(" ".join(map(str, ids)), flush=True)
'''
VOCAB, DIM = 2000, 32


def write_corpus(path, lines=60000):
    rng = np.random.default_rng(13)
    syllables = ["ka", "ro", "ti", "mu", "sel", "ven", "dor", "pi"]
    words = ["".join(rng.choice(syllables, rng.integers(1, 4))) for _ in range(500)] + ["n0t", "a1so", "3rd", "c-o", "o.k.", "x2", "e-mail", "2nd"]
    with open(path, "w") as out:
        for _ in range(lines):
            out.write(" ".join(words[i] for i in rng.integers(0, len(words), 12)) + "\n")


def token_batches(path, size=64):
    proc = subprocess.Popen([sys.executable, "-c", TOKENIZER], stdin=open(path), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    batch = []
    for line in proc.stdout:
        batch.append([int(t) for t in line.split()])
        if len(batch) == size:
            yield np.array(batch)
            batch = []


def train_step(table, out, tokens, rate=0.5):
    context = table[tokens[:, :-1]].mean(axis=1)
    logits = context @ out
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    target = tokens[:, -1]
    rows = np.arange(len(target))
    loss = -np.log(p[rows, target] + 1e-12).mean()
    p[rows, target] -= 1
    back = p @ out.T / tokens.shape[1]
    out -= rate * context.T @ p / len(target)
    np.subtract.at(table, tokens[:, :-1], rate * back[:, None, :] / len(target))
    return loss


def main():
    rng = np.random.default_rng(0)
    table, out = rng.normal(0, 0.3, (VOCAB, DIM)), rng.normal(0, 0.1, (DIM, VOCAB))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as corpus:
        write_corpus(corpus.name)
        started, step = time.time(), 0
        for epoch in range(1, 51):
            for tokens in token_batches(corpus.name):
                loss = train_step(table, out, tokens)
                step += 1
                if step % 10 == 0:
                    print(f"epoch {epoch}  step {step}  loss {loss:.3f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
