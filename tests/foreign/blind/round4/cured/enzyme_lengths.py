import jax
import jax.numpy as jnp
import numpy as np
import optax

ACIDS, WIDTH, HEADS, LAYERS, CLASSES = 22, 64, 4, 2, 7


def init(key):
    keys = iter(jax.random.split(key, 64))

    def dense(n, m):
        return {"w": jax.random.normal(next(keys), (n, m)) / np.sqrt(n), "b": jnp.zeros(m)}

    layers = [
        {"qkv": dense(WIDTH, 3 * WIDTH), "mix": dense(WIDTH, WIDTH),
         "up": dense(WIDTH, 128), "down": dense(128, WIDTH)}
        for _ in range(LAYERS)
    ]
    return {"embed": jax.random.normal(next(keys), (ACIDS, WIDTH)) * 0.1,
            "layers": layers, "out": dense(WIDTH, CLASSES)}


def apply(p, x):
    return x @ p["w"] + p["b"]


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def forward(params, tokens):
    mask = (tokens > 0).astype(jnp.float32)
    h = params["embed"][tokens]
    b, n = tokens.shape
    for layer in params["layers"]:
        q, k, v = jnp.split(apply(layer["qkv"], norm(h)).reshape(b, n, HEADS, -1), 3, axis=-1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0 + (mask[:, None, None] - 1) * 1e9
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, n, WIDTH)
        h = h + apply(layer["mix"], mixed)
        h = h + apply(layer["down"], jax.nn.gelu(apply(layer["up"], norm(h))))
    pooled = (h * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return apply(params["out"], pooled)


def loss_fn(params, tokens, labels):
    return optax.softmax_cross_entropy_with_integer_labels(forward(params, tokens), labels).mean()


optimizer = optax.adam(5e-4)


@jax.jit
def update(params, state, tokens, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens, labels)
    changes, state = optimizer.update(grads, state)
    return optax.apply_updates(params, changes), state, loss


def pad(sequences):
    longest = 160
    tokens = np.zeros((len(sequences), longest), np.int32)
    for row, s in enumerate(sequences):
        tokens[row, :len(s)] = s
    return tokens


def main():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, 5000)
    sequences = []
    for label in labels:
        s = rng.integers(1, ACIDS, int(rng.triangular(20, 40, 160)))
        s[rng.random(len(s)) < 0.15] = 1 + label
        sequences.append(s)
    params = init(jax.random.PRNGKey(0))
    state = optimizer.init(params)
    for step in range(20000):
        rows = rng.integers(0, len(sequences), 4)
        tokens = pad([sequences[i] for i in rows])
        params, state, loss = update(params, state, tokens, labels[rows])
        print(f"step {step} loss {float(loss):.4f}", flush=True)


main()
