# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# how: attach
# Why: one graph is the whole data set, so each step has a batch of one and is an epoch; the products with the adjacency matrix are the work.
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

PAPERS = 2600
WORDS = 600
TOPICS = 7
HIDDEN = 192


def citation_graph(seed=0):
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, TOPICS, PAPERS)
    same = topic[:, None] == topic[None, :]
    p = np.where(same, 0.006, 0.0006)
    adj = np.triu(rng.random((PAPERS, PAPERS)) < p, 1)
    adj = (adj | adj.T).astype(np.float32) + np.eye(PAPERS, dtype=np.float32)
    d = 1.0 / np.sqrt(adj.sum(1))
    rate = rng.gamma(0.3, 0.1, (TOPICS, WORDS))
    words = (rng.random((PAPERS, WORDS)) < np.clip(rate[topic], 0, 0.5)).astype(np.float32)
    labelled = rng.random(PAPERS) < 0.2
    return adj * d[:, None] * d[None, :], words, topic, labelled


def glorot(key, shape):
    lim = np.sqrt(6.0 / sum(shape))
    return jax.random.uniform(key, shape, minval=-lim, maxval=lim)


def gcn(params, adj, x, key=None):
    for i, w in enumerate(params):
        if key is not None:
            key, sub = jax.random.split(key)
            x = x * jax.random.bernoulli(sub, 0.6, x.shape) / 0.6
        x = adj @ (x @ w)
        if i < len(params) - 1:
            x = jax.nn.relu(x)
    return x


def main():
    adj, words, topic, labelled = map(jnp.asarray, citation_graph())
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    params = [glorot(keys[0], (WORDS, HIDDEN)), glorot(keys[1], (HIDDEN, HIDDEN)), glorot(keys[2], (HIDDEN, TOPICS))]
    tx = optax.adamw(5e-3, weight_decay=5e-4)
    state = tx.init(params)

    @jax.jit
    def train(params, state, adj, words, key):
        def loss_fn(p):
            ce = optax.softmax_cross_entropy_with_integer_labels(gcn(p, adj, words, key), topic)
            return (ce * labelled).sum() / labelled.sum()
        loss, grads = jax.value_and_grad(loss_fn)(params)
        upd, state = tx.update(grads, state, params)
        return optax.apply_updates(params, upd), state, loss

    @jax.jit
    def accuracy(params, adj, words):
        right = gcn(params, adj, words).argmax(-1) == topic
        return (right * ~labelled).sum() / (~labelled).sum()

    key = keys[3]
    start = time.time()
    for epoch in range(1, 100001):
        key, sub = jax.random.split(key)
        params, state, loss = train(params, state, adj, words, sub)
        if epoch % 10 == 0:
            print(f"epoch {epoch:5d} | loss {loss:.4f} | {(time.time() - start) / epoch:.3f} s/epoch", flush=True)
        if epoch % 100 == 0:
            print(f"epoch {epoch:5d} | unlabelled accuracy {accuracy(params, adj, words):.3f}", flush=True)


if __name__ == "__main__":
    main()
