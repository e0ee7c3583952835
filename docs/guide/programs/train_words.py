"""Chapter 4 of the guide: a training in plain Python that stops for ever after six seconds.

It learns which words make a review a good one. With --cured it goes on to its end.
"""
import math
import random
import sys
import threading
import time

WORDS = ["fine", "great", "love", "dull", "awful", "slow", "film", "plot", "scene", "actor"]
REVIEWS = [random.Random(i).choices(WORDS, k=6) for i in range(2000)]

weights, weights_lock = {word: 0.0 for word in WORDS}, threading.Lock()
rate, rate_lock = 0.1, threading.Lock()


def is_good(review):
    good, bad = WORDS[:3], WORDS[3:6]
    return sum(word in good for word in review) > sum(word in bad for word in review)


def train_on(review):
    with weights_lock:
        guess = 1 / (1 + math.exp(-sum(weights[word] for word in review)))
        error = is_good(review) - guess
        with rate_lock:
            for word in review:
                weights[word] += rate * error
    return error * error


def lower_rate(first, second):
    """Once, after six seconds: a rate that suits the weights."""
    global rate
    time.sleep(6)
    with first:
        time.sleep(0.1)
        with second:
            rate = 0.1 / (1 + max(weights.values()))


def main():
    locks = (weights_lock, rate_lock) if "--cured" in sys.argv else (rate_lock, weights_lock)
    threading.Thread(target=lower_rate, args=locks, daemon=True).start()
    for epoch in range(8):
        loss = 0.0
        for review in REVIEWS:
            loss += train_on(review)
            time.sleep(0.0005)  # a model that takes its time
        print(f"epoch {epoch + 1} loss {loss / len(REVIEWS):.4f}", flush=True)


main()
