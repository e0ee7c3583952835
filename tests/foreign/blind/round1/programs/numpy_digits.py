# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a handwritten network in numpy with no framework around it keeps a core at 100 % for hours; people think it "does not use the machine".
import time

import numpy as np

SIDE, CLASSES, BATCH = 20, 10, 256


def make_digits(n=8000):
    rng = np.random.default_rng(41)
    templates = rng.random((CLASSES, SIDE, SIDE)) < 0.3
    label = rng.integers(0, CLASSES, n)
    shift = rng.integers(-2, 3, (n, 2))
    images = np.stack([np.roll(templates[k], s, axis=(0, 1)) for k, s in zip(label, shift)]).astype("float32")
    images += rng.normal(0, 0.5, images.shape).astype("float32")
    return images.reshape(n, -1), label


class Layer:
    def __init__(self, rng, inputs, outputs):
        self.w = rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs)).astype("float32")
        self.b = np.zeros(outputs, "float32")
        self.state = [np.zeros_like(self.w), np.zeros_like(self.b)]

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, grad, rate):
        below = grad @ self.w.T
        for value, slope, speed in ((self.w, self.x.T @ grad, self.state[0]), (self.b, grad.sum(axis=0), self.state[1])):
            speed *= 0.9
            speed -= rate * slope
            value += speed
        return below


def train_step(layers, x, label, rate):
    masks, h = [], x
    for layer in layers[:-1]:
        h = layer.forward(h)
        masks.append(h > 0)
        h = h * masks[-1]
    logits = layers[-1].forward(h)
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    rows = np.arange(len(label))
    loss = -np.log(p[rows, label] + 1e-9).mean()
    p[rows, label] -= 1
    grad = layers[-1].backward(p / len(label), rate)
    for layer, mask in zip(reversed(layers[:-1]), reversed(masks)):
        grad = layer.backward(grad * mask, rate)
    return loss


def main():
    rng = np.random.default_rng(0)
    images, label = make_digits()
    sizes = [SIDE * SIDE, 768, 768, CLASSES]
    layers = [Layer(rng, a, b) for a, b in zip(sizes, sizes[1:])]
    started, step = time.time(), 0
    for epoch in range(1, 201):
        order = rng.permutation(len(images))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            pick = order[at:at + BATCH]
            loss = train_step(layers, images[pick], label[pick], rate=0.002)
            step += 1
            if step % 20 == 0:
                print(f"epoch {epoch}  step {step}  loss {loss:.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
