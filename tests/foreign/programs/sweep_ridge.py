# python: plain
# expected: healthy
# verdict: healthy
# seconds: 18
# Why: a parameter search: the parent waits in pool.map, its two children work. Waiting for busy workers is no deadlock.
import multiprocessing


def train(rate):
    weights = [0.0] * 16
    rows = [[((i * 37 + j * 11) % 29) / 29 for j in range(16)] for i in range(256)]
    for epoch in range(60):
        for row in rows:
            error = sum(w * v for w, v in zip(weights, row)) - row[0]
            weights = [w - rate * error * v for w, v in zip(weights, row)]
    return rate, error * error


def main():
    rates = [0.001 * 1.02 ** k for k in range(400)]
    with multiprocessing.Pool(2) as pool:
        for rate, error in pool.imap(train, rates):
            print(f"rate {rate:.5f} error {error:.6f}", flush=True)


if __name__ == "__main__":
    main()
