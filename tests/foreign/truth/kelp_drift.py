# python: loops
# truth: step=computes, build=compiles, batch=makes data
# Why: every ninth batch has a new shape, and XLA compiles for it; batches are made in numpy on the training thread.
import jax
import jax.numpy as jnp
import numpy as np
import optax

from stopwatch import part, started


def forward(weights, x):
    for matrix in weights[:-1]:
        x = jax.nn.gelu(x @ matrix)
    return x @ weights[-1]


def make_batch(rng, count):
    drift = np.empty((count, 384), np.float32)
    for i in range(count):
        steps = np.convolve(rng.normal(size=384), np.hanning(64), mode="same")
        drift[i] = np.cumsum(np.clip(steps, -9, 9)) / 10
    return jnp.asarray(drift / 20), jnp.asarray(drift[:, -1:])


def main():
    rng = np.random.default_rng(9)
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    sizes = (384, 1024, 1024, 1024, 1)
    weights = [jax.random.normal(key, shape) / np.sqrt(shape[0]) for key, shape in zip(keys, zip(sizes, sizes[1:]))]
    optimizer = optax.adam(1e-4)
    state = optimizer.init(weights)

    @jax.jit
    def train_step(weights, state, x, y):
        loss, slopes = jax.value_and_grad(lambda w: ((forward(w, x) - y) ** 2).mean())(weights)
        changes, state = optimizer.update(slopes, state)
        return optax.apply_updates(weights, changes), state, loss

    x, y = make_batch(rng, 200)
    step, ready = 0, None
    started()
    while True:
        if step % 9 == 0:
            with part("build"):
                ready = train_step.lower(weights, state, x, y).compile()
        with part("step"):
            weights, state, loss = ready(weights, state, x, y)
            loss.block_until_ready()
        step += 1
        with part("batch"):
            x, y = make_batch(rng, 200 + step // 9)
        if step % 12 == 0:
            print(f"step {step} loss {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
