# python: loops
# expected: batch-too-small [also accepted: launch-bound]
# verdict: slow
# seconds: 30
# where: batch_size / train_step(
# Why: "online learning": one click per step. A jitted step costs the same for one sample as for a hundred, so nearly all of it is overhead.
import jax
import jax.numpy as jnp
import numpy as np
import optax

FEATURES, HIDDEN = 64, 64
rng = np.random.default_rng(12)
config = {"batch_size": 1, "lr": 1e-3, "epochs": 50}


def load_clicks(n=200000):
    x = rng.standard_normal((n, FEATURES)).astype(np.float32)
    logit = x[:, 0] * x[:, 1] + x[:, 2] - 0.5
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * logit))).astype(np.float32)
    return x, y


def init_params(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "w1": jax.random.normal(k1, (FEATURES, HIDDEN)) / np.sqrt(FEATURES), "b1": jnp.zeros(HIDDEN),
        "w2": jax.random.normal(k2, (HIDDEN, HIDDEN)) / np.sqrt(HIDDEN), "b2": jnp.zeros(HIDDEN),
        "w3": jax.random.normal(k3, (HIDDEN, 1)) / np.sqrt(HIDDEN), "b3": jnp.zeros(1),
    }


def loss_fn(params, x, y):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    h = jax.nn.relu(h @ params["w2"] + params["b2"])
    logit = (h @ params["w3"] + params["b3"])[:, 0]
    return optax.sigmoid_binary_cross_entropy(logit, y).mean()


optimizer = optax.adam(config["lr"])


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


x, y = load_clicks()
params = init_params(jax.random.PRNGKey(1))
opt_state = optimizer.init(params)
batch_size = config["batch_size"]
for epoch in range(config["epochs"]):
    order = rng.permutation(len(x))
    losses = []
    for i in range(0, len(order), batch_size):
        pick = order[i:i + batch_size]
        params, opt_state, loss = train_step(params, opt_state, x[pick], y[pick])
        losses.append(loss)
        if (i + batch_size) // 2560 != i // 2560:
            mean = float(jnp.stack(losses[-50:]).mean())
            print(f"epoch {epoch} samples {i + batch_size} of {len(order)} loss {mean:.4f}", flush=True)
            losses = []
