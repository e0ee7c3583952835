# python: plain
# expected: worker-died
# verdict: stuck
# seconds: 30
# where: pool.map / height
# Why: The recursion limit was raised; one broken line nests so deep that the recursion runs through the C stack and the pool's
#   worker dies of a segmentation fault. pool.map waits for ever for its result.
import sys
import time
from multiprocessing import Pool

import numpy as np

sys.setrecursionlimit(10 ** 7)
LABELS = ["S", "NP", "VP", "PP", "ADJP", "N", "V", "P", "D", "A"]


def parse(text):
    """'(S (NP (N a)) (VP (V b)))' -> ['S', ['NP', ['N', 'a']], ...]"""
    root = current = []
    stack = []
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            child = []
            current.append(child)
            stack.append(current)
            current = child
        elif token == ")":
            if stack:
                current = stack.pop()
        else:
            current.append(token)
    return root[0]


def height(node):
    return 1 + max(map(height, node)) if isinstance(node, list) and node else 0


def features(text):
    tree = parse(text)
    counts = np.array([text.count("(" + label + " ") for label in LABELS], dtype=np.float32)
    words = text.replace("(", " ").replace(")", " ").split()
    lengths = np.bincount(np.minimum([len(w) for w in words], 15), minlength=16)
    return np.concatenate([counts / len(words), lengths / len(words), [height(tree) / 10, len(words) / 50]])


def grow(rng, depth):
    label = LABELS[rng.integers(len(LABELS))]
    if depth == 0 or rng.random() < 0.15:
        return f"({label} {'x' * rng.integers(1, 9)})"
    return f"({label} " + " ".join(grow(rng, depth - 1) for _ in range(rng.integers(1, 4))) + ")"


def treebank(n):
    rng = np.random.default_rng(6)
    lines = [grow(rng, int(rng.integers(3, 8))) for _ in range(n)]
    genre = np.array([int(line.count("(") > 30) + int(line.count("NP") > line.count("VP")) for line in lines])
    # as it came out of the conversion of the old corpus
    lines[14711] = "(S " * 300000 + "x" + ")" * 300000
    keep = [i for i, line in enumerate(lines) if line.count("(") < 1000]
    return [lines[i] for i in keep], genre[keep]


def main():
    lines, genre = treebank(16000)
    rng = np.random.default_rng(1)
    weights = np.zeros((28, 3))
    began = time.time()
    with Pool(2) as pool:
        step = 0
        for epoch in range(1000):
            order = rng.permutation(len(lines)) if epoch else np.arange(len(lines))
            for i in range(0, len(order), 20):
                rows = order[i:i + 20]
                x = np.stack(pool.map(features, [lines[r] for r in rows], chunksize=5))
                z = x @ weights
                p = np.exp(z - z.max(1, keepdims=True))
                p /= p.sum(1, keepdims=True)
                loss = -np.log(p[np.arange(len(rows)), genre[rows]] + 1e-9).mean()
                p[np.arange(len(rows)), genre[rows]] -= 1
                weights -= 0.5 * x.T @ p / len(rows)
                step += 1
                if step % 10 == 0:
                    print(f"epoch {epoch} step {step} loss {loss:.4f} ({time.time() - began:.1f}s)", flush=True)


if __name__ == "__main__":
    main()
