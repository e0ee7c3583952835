# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 26
# Why: a jitted step over a large network in bfloat16, a loss printed now and then.
import jax
import jax.numpy as jnp
import optax

keys = jax.random.split(jax.random.key(0), 10)
weights = [jax.random.normal(k, (4096, 4096), jnp.bfloat16) * 0.02 for k in keys[:8]]
tx = optax.adam(1e-4)
state = tx.init(weights)


@jax.jit
def train(weights, state, key):
    x = jax.random.normal(key, (2048, 4096), jnp.bfloat16)

    def loss_of(weights):
        h = x
        for w in weights:
            h = h + jax.nn.relu(h @ w)
        return jnp.mean((h - jnp.abs(x)).astype(jnp.float32) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(weights)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(weights, updates), state, loss


key = jax.random.key(1)
for step in range(1, 100000):
    key, sub = jax.random.split(key)
    weights, state, loss = train(weights, state, sub)
    if step % 50 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
