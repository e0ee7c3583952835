# python: loops
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: healthy|slow
# seconds: 30
# where: apply_updates
# Why: optax.apply_updates returns the new parameters, and the returned value is thrown away: the weights stay as they were.
import jax
import jax.numpy as jnp
import numpy as np
import optax

SAMPLES = 2048
COLONIES = 10
BATCH = 64


def synth_calls(n, rng):
    """Two-note calls; the colony sets the pitch and how fast it falls."""
    t = np.linspace(0, 1, SAMPLES)
    colony = rng.integers(0, COLONIES, n)
    pitch = 20 + 9 * colony + rng.normal(0, 1.5, n)
    fall = 2.0 + 0.5 * (colony % 4)
    wave = np.sin(2 * np.pi * pitch[:, None] * t * (1 - 0.1 * fall[:, None] * t))
    wave += 0.5 * np.sin(4 * np.pi * pitch[:, None] * t + rng.uniform(0, 6, (n, 1)))
    wave *= np.exp(-4 * np.abs(t - rng.uniform(0.3, 0.7, (n, 1))))
    wave += rng.normal(0, 0.1, wave.shape)
    return wave[..., None].astype(np.float32), colony.astype(np.int32)


def conv(x, w, stride):
    return jax.lax.conv_general_dilated(x, w, (stride,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def init_params(rng):
    shapes = {"c1": (16, 1, 24), "c2": (8, 24, 48), "c3": (8, 48, 64)}
    params = {k: (rng.normal(size=s) * np.sqrt(2 / (s[0] * s[1]))).astype(np.float32) for k, s in shapes.items()}
    params["head"] = (rng.normal(size=(64, COLONIES)) * 0.1).astype(np.float32)
    params["bias"] = np.zeros(COLONIES, np.float32)
    return jax.tree_util.tree_map(jnp.asarray, params)


def logits_of(params, x):
    x = jax.nn.relu(conv(x, params["c1"], 4))
    x = jax.nn.relu(conv(x, params["c2"], 4))
    x = jax.nn.relu(conv(x, params["c3"], 2))
    return x.mean(axis=1) @ params["head"] + params["bias"]


optimizer = optax.adam(optax.linear_schedule(0.0, 3e-3, 50))


@jax.jit
def train_step(params, opt_state, x, y):
    def loss_fn(p):
        logits = logits_of(p, x)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
        return loss, (logits.argmax(-1) == y).mean()

    (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    optax.apply_updates(params, updates)
    return params, opt_state, loss, acc


rng = np.random.default_rng(17)
calls, colony = synth_calls(4000, rng)
params = init_params(rng)
opt_state = optimizer.init(params)

step = 0
for epoch in range(1, 10001):
    order = rng.permutation(len(calls))
    for lo in range(0, len(order) - BATCH + 1, BATCH):
        pick = order[lo:lo + BATCH]
        params, opt_state, loss, acc = train_step(params, opt_state, calls[pick], colony[pick])
        step += 1
        if step % 20 == 0:
            print("epoch %d step %d loss %.4f acc %.3f" % (epoch, step, loss, acc), flush=True)
