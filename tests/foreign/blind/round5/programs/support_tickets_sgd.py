# python: loops
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: gc.collect
# Why: gc.collect() after every batch walks through the many dictionaries and lists of the tickets in memory.
"""Route support tickets to a team. Streams over the archive with partial_fit."""
import gc
import itertools
import random
import sys

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

TEAMS = ["billing", "network", "hardware", "accounts", "mobile"]
WORDS = {
    "billing": "invoice charge refund card payment vat receipt".split(),
    "network": "router latency outage dns packet fibre wifi".split(),
    "hardware": "screen battery fan keyboard boot noise disk".split(),
    "accounts": "password login locked email reset token user".split(),
    "mobile": "sim roaming signal app android update phone".split(),
}
COMMON = "please help since yesterday the my it does not work again when thanks hello team".split()


def archive(n=60_000):
    rnd = random.Random(4)
    tickets = []
    for number in range(n):
        team = rnd.choice(TEAMS)
        body = rnd.choices(COMMON, k=14) + rnd.choices(WORDS[team], k=3) + rnd.choices(WORDS[rnd.choice(TEAMS)], k=2)
        tickets.append({"id": number, "team": team, "words": body,
                        "meta": {"queue": number % 7, "tags": [team[:2], "web"]}})
    return tickets


def minibatches(tickets, size):
    while True:
        random.shuffle(tickets)
        for i in range(0, len(tickets) - size, size):
            yield tickets[i:i + size]


def main():
    tickets = archive()
    held_out, tickets = tickets[:2000], tickets[2000:]
    vectorise = HashingVectorizer(n_features=2 ** 16, alternate_sign=False, ngram_range=(1, 2))
    clf = SGDClassifier(loss="log_loss", alpha=1e-6)
    x_val = vectorise.transform(" ".join(t["words"]) for t in held_out)
    y_val = np.array([t["team"] for t in held_out])

    for step, batch in zip(itertools.count(1), minibatches(tickets, 256)):
        x = vectorise.transform(" ".join(t["words"]) for t in batch)
        y = np.array([t["team"] for t in batch])
        clf.partial_fit(x, y, classes=TEAMS)
        del x, y
        gc.collect()
        if step % 10 == 0:
            proba = np.clip(clf.predict_proba(x_val), 1e-9, 1)
            column = np.searchsorted(clf.classes_, y_val)
            loss = -np.log(proba[np.arange(len(y_val)), column]).mean()
            sys.stdout.write(f"batch {step}: val logloss {loss:.4f}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
