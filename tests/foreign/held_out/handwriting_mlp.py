# python: plain
# expected: healthy
# verdict: healthy
# seconds: 28
# env: OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2
# Why: a net of two layers in numpy alone, forward and backward by hand, whose only output goes through logging to
# stderr and a file. No framework is loaded that anyone could recognise; the loss falls.
import logging
import logging.handlers
import os
import tempfile

import numpy as np


def get_logger():
    logger = logging.getLogger("mlp")
    logger.setLevel(logging.DEBUG)
    formatter = logging.Formatter("%(asctime)s %(levelname)-7s %(funcName)s: %(message)s")
    path = os.path.join(tempfile.gettempdir(), "handwriting-mlp.log")
    to_file = logging.handlers.RotatingFileHandler(path, maxBytes=200_000, backupCount=1)
    for handler in (logging.StreamHandler(), to_file):
        handler.setFormatter(formatter)
        logger.addHandler(handler)
    return logger


logger = get_logger()


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


class Dense:
    def __init__(self, rng, n_in, n_out):
        self.W = rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out)).astype(np.float32)
        self.b = np.zeros(n_out, np.float32)
        self.mW, self.mb = np.zeros_like(self.W), np.zeros_like(self.b)

    def forward(self, x):
        self.x = x
        return x @ self.W + self.b

    def backward(self, grad, lr, momentum=0.9):
        out = grad @ self.W.T
        self.mW = momentum * self.mW - lr * (self.x.T @ grad)
        self.mb = momentum * self.mb - lr * grad.sum(0)
        self.W += self.mW
        self.b += self.mb
        return out


class MLP:
    def __init__(self, rng, sizes):
        self.layers = [Dense(rng, a, b) for a, b in zip(sizes, sizes[1:])]

    def step(self, x, labels, lr):
        active = []
        for layer in self.layers[:-1]:
            x = np.maximum(layer.forward(x), 0)
            active.append(x > 0)
        p = softmax(self.layers[-1].forward(x))
        rows = np.arange(len(labels))
        loss = -np.log(p[rows, labels] + 1e-9).mean()
        p[rows, labels] -= 1
        grad = self.layers[-1].backward(p / len(labels), lr)
        for layer, mask in zip(reversed(self.layers[:-1]), reversed(active)):
            grad = layer.backward(grad * mask, lr)
        return loss


def digits(rng, n):
    centres = rng.normal(size=(10, 784)).astype(np.float32)
    labels = rng.integers(0, 10, n)
    return 0.08 * centres[labels] + rng.standard_normal((n, 784), dtype=np.float32), labels


def main(epochs=500, batch=256):
    rng = np.random.default_rng(2024)
    x, labels = digits(rng, 40_000)
    net = MLP(rng, [784, 768, 512, 10])
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        for i in range(0, len(x), batch):
            pick = order[i:i + batch]
            loss = net.step(x[pick], labels[pick], lr=0.01)
            if (i // batch) % 20 == 0:
                logger.debug("epoch=%d i=%d loss=%.4f", epoch, i, loss)
        logger.info("epoch %d finished", epoch)


if __name__ == "__main__":
    main()
