# python: loops
# expected: autotune-varying-shapes [also accepted: retracing, first-step-compiling]
# verdict: slow
# seconds: 40
# where: update(params / longest
# Why: each batch is padded to its own longest string, so nearly every batch has a shape that jit has not seen and is compiled anew.
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, DIM, HEADS, LAYERS = 48, 64, 4, 2
rng = np.random.default_rng(6)


def make_corpus(n):
    lengths = np.clip(rng.gamma(4.0, 22.0, n).astype(int), 10, 400)
    return [rng.integers(1, VOCAB, k) for k in lengths]


def init(key):
    keys = iter(jax.random.split(key, 4 * LAYERS + 2))
    dense = lambda a, b: jax.random.normal(next(keys), (a, b)) / np.sqrt(a)
    params = {"emb": 0.1 * jax.random.normal(next(keys), (VOCAB, DIM)), "out": dense(DIM, VOCAB), "layers": []}
    for _ in range(LAYERS):
        params["layers"].append({"qkv": dense(DIM, 3 * DIM), "proj": dense(DIM, DIM),
                                 "up": dense(DIM, 2 * DIM), "down": dense(2 * DIM, DIM)})
    return params


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def forward(params, tokens):
    b, t = tokens.shape
    x = params["emb"][tokens]
    causal = jnp.tril(jnp.ones((t, t), bool))
    for layer in params["layers"]:
        q, k, v = jnp.split((norm(x) @ layer["qkv"]).reshape(b, t, HEADS, -1), 3, axis=-1)
        att = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(DIM // HEADS)
        att = jax.nn.softmax(jnp.where(causal, att, -1e9), axis=-1)
        x = x + jnp.einsum("bhts,bshd->bthd", att, v).reshape(b, t, DIM) @ layer["proj"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    return norm(x) @ params["out"]


def loss_fn(params, tokens):
    logits = forward(params, tokens[:, :-1])
    target = tokens[:, 1:]
    ce = optax.softmax_cross_entropy_with_integer_labels(logits, target)
    weight = (target > 0).astype(jnp.float32)
    return (ce * weight).sum() / weight.sum()


tx = optax.adam(1e-3)


@jax.jit
def update(params, state, tokens):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


corpus = make_corpus(4000)
params = init(jax.random.PRNGKey(0))
state = tx.init(params)
for step in range(1, 20001):
    rows = [corpus[i] for i in rng.integers(0, len(corpus), 8)]
    longest = max(len(r) for r in rows)
    tokens = np.zeros((len(rows), longest), np.int32)
    for r, row in enumerate(rows):
        tokens[r, :len(row)] = row
    params, state, loss = update(params, state, tokens)
    if step % 2 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
