# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Looks suspicious because it is a plain loop without any framework or numpy that keeps one core busy in Python code; that code is the training itself (an averaged perceptron over sparse features).
import random

PIECES = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}


def random_position(rng):
    """A position as sparse features: (piece, square) for both sides."""
    features = []
    balance = 0.0
    for _ in range(rng.randint(8, 22)):
        piece = rng.choice("pppppnbrq")
        square = rng.randrange(64)
        side = rng.choice((1, -1))
        center = 3.5 - max(abs(square % 8 - 3.5), abs(square // 8 - 3.5))
        balance += side * (PIECES[piece] + 0.1 * center)
        features.append(f"{piece}{square}{'w' if side > 0 else 'b'}")
    for a, b in zip(features, features[1:]):
        features.append(a[:1] + b)
    return features, 1 if balance + rng.gauss(0, 1) > 0 else -1


class AveragedPerceptron:
    def __init__(self):
        self.weights = {}
        self.totals = {}
        self.stamps = {}
        self.seen = 0

    def score(self, features):
        total = 0.0
        for f in features:
            total += self.weights.get(f, 0.0)
        return total

    def learn(self, features, label):
        self.seen += 1
        margin = label * self.score(features)
        if margin <= 1.0:
            rate = 0.1
            for f in features:
                old = self.weights.get(f, 0.0)
                self.totals[f] = self.totals.get(f, 0.0) + (self.seen - self.stamps.get(f, 0)) * old
                self.stamps[f] = self.seen
                self.weights[f] = old + rate * label
        return max(0.0, 1.0 - margin)


def main():
    rng = random.Random(42)
    positions = [random_position(rng) for _ in range(15000)]
    model = AveragedPerceptron()
    step = 0
    for epoch in range(10000):
        rng.shuffle(positions)
        loss = 0.0
        for features, label in positions:
            loss += model.learn(features, label)
            step += 1
            if step % 5000 == 0:
                print(f"epoch {epoch} step {step} loss {loss / 5000:.4f}", flush=True)
                loss = 0.0


if __name__ == "__main__":
    main()
