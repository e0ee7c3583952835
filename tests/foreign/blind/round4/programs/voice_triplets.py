# python: loops
# expected: loop-never-ends [also accepted: source-never-yields, hot-line]
# verdict: stuck
# seconds: 40
# where: while True / other = / if self.speakers[other] / def negative
# Why: The curriculum narrows the pool to near neighbours; when a pool holds one speaker only, the search for a voice of another speaker goes on for ever.
import jax
import jax.numpy as jnp
import numpy as np
import optax

SPEAKERS, CLIPS, FEATURES, DIM = 30, 60, 80, 48


class Voices:
    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.speakers = np.repeat(np.arange(SPEAKERS), CLIPS)
        centers = self.rng.standard_normal((SPEAKERS, FEATURES))
        noise = self.rng.standard_normal((SPEAKERS * CLIPS, FEATURES))
        self.features = (centers[self.speakers] + 2.5 * noise).astype(np.float32)
        self.window = SPEAKERS * CLIPS

    def pool(self, anchor):
        low = max(0, min(anchor - self.window // 2, len(self.speakers) - self.window))
        return low, low + self.window

    def negative(self, anchor):
        low, high = self.pool(anchor)
        while True:
            other = int(self.rng.integers(low, high))
            if self.speakers[other] != self.speakers[anchor]:
                return other

    def batch(self, size):
        anchors = self.rng.integers(0, len(self.speakers), size)
        same = self.speakers[anchors] * CLIPS + self.rng.integers(0, CLIPS, size)
        others = np.array([self.negative(int(a)) for a in anchors])
        return self.features[anchors], self.features[same], self.features[others]


def init(key, sizes=(FEATURES, 256, 256, DIM)):
    params = []
    for n, m in zip(sizes, sizes[1:]):
        key, sub = jax.random.split(key)
        params.append((jax.random.normal(sub, (n, m)) * np.sqrt(2 / n), jnp.zeros(m)))
    return params


def embed(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    x = x @ params[-1][0] + params[-1][1]
    return x / (jnp.linalg.norm(x, axis=1, keepdims=True) + 1e-6)


def triplet_loss(params, a, p, n):
    a, p, n = embed(params, a), embed(params, p), embed(params, n)
    near = jnp.sum((a - p) ** 2, 1)
    far = jnp.sum((a - n) ** 2, 1)
    return jnp.mean(jax.nn.relu(near - far + 0.3))


optimizer = optax.adam(3e-4)


@jax.jit
def update(params, state, a, p, n):
    loss, grads = jax.value_and_grad(triplet_loss)(params, a, p, n)
    changes, state = optimizer.update(grads, state)
    return optax.apply_updates(params, changes), state, loss


def main():
    voices = Voices()
    params = init(jax.random.PRNGKey(1))
    state = optimizer.init(params)
    for stage in range(1000):
        for step in range(150):
            params, state, loss = update(params, state, *voices.batch(512))
            if step % 15 == 0:
                print(f"stage {stage} step {stage * 150 + step} loss {float(loss):.4f}", flush=True)
        voices.window = max(40, int(voices.window * 0.4))


main()
