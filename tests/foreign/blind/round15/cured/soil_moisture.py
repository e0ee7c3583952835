# python: loops
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: slow
# seconds: 25
# where: optax.apply_updates
# Why: what apply_updates gives back is dropped (it changes nothing in place): the weights of the start are returned for ever.
"""Moisture of the soil from radar, weather and the ground's kind."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

SIZES = (24, 256, 256, 128, 1)


def fields(count):
    rng = np.random.default_rng(12)
    x = rng.normal(0, 1, (count, SIZES[0]))
    x[:, 5] = rng.gamma(0.7, 6, count)
    x[:, 8:12] *= (5, 40, 0.2, 300)
    wet = np.tanh(x[:, 0] - 0.5 * x[:, 1]) + 0.08 * x[:, 5] + 0.4 * x[:, 2] * x[:, 3] + np.sin(2 * x[:, 4]) * (x[:, 6] > 0)
    wet = (wet - wet.mean()) / wet.std() + rng.normal(0, 0.2, count)
    return x, wet.astype(np.float32)


def init(key):
    params = []
    for fan_in, fan_out in zip(SIZES, SIZES[1:]):
        key, own = jax.random.split(key)
        params.append({"w": jax.random.normal(own, (fan_in, fan_out)) * np.sqrt(2 / fan_in), "b": jnp.zeros(fan_out)})
    return params


def predict(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]


def loss_fn(params, x, y):
    return jnp.mean(optax.huber_loss(predict(params, x), y))


schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 200, 100_000)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-4))


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss, optax.global_norm(grads)


def main():
    x, wet = fields(40000)
    x_train, x_held, y_train, y_held = train_test_split(x, wet, test_size=0.1, random_state=0)
    scaler = StandardScaler().fit(x_train)
    x_train, x_held = (scaler.transform(part).astype(np.float32) for part in (x_train, x_held))
    params = init(jax.random.PRNGKey(4))
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(0)
    held_loss = jax.jit(loss_fn)
    batch, step, began = 256, 0, time.time()
    for epoch in range(3000):
        order = rng.permutation(len(x_train))
        for start in range(0, len(order) - batch + 1, batch):
            rows = order[start:start + batch]
            params, opt_state, loss, norm = train_step(params, opt_state, x_train[rows], y_train[rows])
            step += 1
            if step % 70 == 0:
                print(f"epoch {epoch} step {step} loss {float(loss):.4f} |g| {float(norm):.3f}", flush=True)
        print(f"epoch {epoch} held-out {float(held_loss(params, x_held, y_held)):.4f} after {time.time() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
