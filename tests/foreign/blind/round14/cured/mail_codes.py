# python: plain
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: all weights begin at zero, so every layer but the last bias gets a gradient of exactly zero and the loss stays at ln(10). The cured
# one draws them with a standard deviation of 1 / sqrt(inputs).
"""Reads the digits of postal codes with a network written in NumPy: three layers, momentum, mini-batches."""
import time

import numpy as np

SIDE = 20
SEGMENTS = {0: "abcdef", 1: "bc", 2: "abged", 3: "abgcd", 4: "fgbc", 5: "afgcd", 6: "afgedc", 7: "abc", 8: "abcdefg", 9: "abcdfg"}
PLACES = {"a": (2, 5, 3, 15), "b": (3, 13, 10, 15), "c": (10, 13, 17, 15), "d": (16, 5, 18, 15), "e": (10, 5, 17, 7),
          "f": (3, 5, 10, 7), "g": (9, 5, 11, 15)}


def write_digits(count, rng):
    """Pen strokes of seven places, shifted, thinned and stained."""
    labels = rng.integers(0, 10, count)
    images = np.zeros((count, SIDE, SIDE), dtype=np.float32)
    for image, label in zip(images, labels):
        for segment in SEGMENTS[int(label)]:
            top, left, bottom, right = PLACES[segment]
            image[top:bottom, left:right] = rng.uniform(0.5, 1.0)
    shifts = rng.integers(-2, 3, (count, 2))
    for i, (down, across) in enumerate(shifts):
        images[i] = np.roll(images[i], (down, across), (0, 1))
    images += rng.normal(0, 0.3, images.shape)
    return images.reshape(count, -1), labels


class Layer:
    def __init__(self, before, after, rng):
        self.weights = rng.normal(0, before ** -0.5, (before, after))
        self.bias = np.zeros(after)
        self.speed = [np.zeros_like(self.weights), np.zeros_like(self.bias)]

    def forward(self, x):
        self.x = x
        return x @ self.weights + self.bias

    def backward(self, grad):
        self.grads = [self.x.T @ grad, grad.sum(0)]
        return grad @ self.weights.T

    def update(self, rate, momentum=0.9):
        for value, grad, speed in zip((self.weights, self.bias), self.grads, self.speed):
            speed *= momentum
            speed -= rate * grad
            value += speed


class Network:
    def __init__(self, sizes, rng):
        self.layers = [Layer(before, after, rng) for before, after in zip(sizes, sizes[1:])]

    def forward(self, x):
        self.hidden = []
        for layer in self.layers[:-1]:
            x = np.tanh(layer.forward(x))
            self.hidden.append(x)
        scores = self.layers[-1].forward(x)
        scores -= scores.max(1, keepdims=True)
        chances = np.exp(scores)
        return chances / chances.sum(1, keepdims=True)

    def backward(self, chances, labels):
        grad = chances.copy()
        grad[np.arange(len(labels)), labels] -= 1
        grad = self.layers[-1].backward(grad / len(labels))
        for layer, out in zip(reversed(self.layers[:-1]), reversed(self.hidden)):
            grad = layer.backward(grad * (1 - out ** 2))

    def update(self, rate):
        for layer in self.layers:
            layer.update(rate)


def main():
    rng = np.random.default_rng(8)
    images, labels = write_digits(12000, rng)
    held, held_labels = write_digits(1000, rng)
    mean, spread = images.mean(), images.std()
    images, held = (images - mean) / spread, (held - mean) / spread
    network = Network([SIDE * SIDE, 256, 128, 10], rng)
    print(f"{len(images)} digits of {SIDE} x {SIDE} pixels", flush=True)
    step, recent, began = 0, [], time.time()
    for epoch in range(1000):
        order = rng.permutation(len(images))
        for start in range(0, len(order), 100):
            rows = order[start:start + 100]
            chances = network.forward(images[rows])
            recent.append(-np.log(chances[np.arange(len(rows)), labels[rows]] + 1e-12).mean())
            network.backward(chances, labels[rows])
            network.update(0.005)
            step += 1
            if step % 20 == 0:
                print(f"epoch {epoch + 1} step {step} loss {np.mean(recent[-20:]):.4f} [{time.time() - began:.1f} s]", flush=True)
        right = (network.forward(held).argmax(1) == held_labels).mean()
        recent = recent[-20:]
        print(f"epoch {epoch + 1}: {right:.1%} of the held out digits", flush=True)


if __name__ == "__main__":
    main()
