# python: loops
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the same program without the fault.
"""Sound or hollow walnuts: the sound of a tap, given to a bank of filters that stays as it is and a head that learns."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

SAMPLES, FILTERS, KINDS, BATCH = 512, 128, 6, 128


def draw_taps(count, seed):
    random = np.random.default_rng(seed)
    kinds = random.integers(0, KINDS, count)
    time = np.arange(SAMPLES) / SAMPLES
    pitch = 20 + 9 * kinds[:, None] + random.normal(0, 2.0, (count, 1))
    fading = np.exp(-time * (4 + kinds[:, None]))
    taps = fading * np.sin(2 * np.pi * pitch * time + random.uniform(0, 6.28, (count, 1)))
    return (taps + random.normal(0, 0.15, taps.shape)).astype(np.float32), kinds.astype(np.int32)


def make_params(key):
    keys = jax.random.split(key, 4)
    pitches = jnp.linspace(5, 120, FILTERS // 2)[:, None] * jnp.linspace(0, 2 * jnp.pi * 64 / SAMPLES, 64)[None]
    bank = jnp.concatenate([jnp.sin(pitches), jnp.cos(pitches)]) / 8
    return {
        "bank": {"kernel": bank[:, None]},
        "head": {
            "w1": jax.random.normal(keys[0], (FILTERS * 8, 256)) * 0.03, "b1": jnp.zeros(256),
            "w2": jax.random.normal(keys[1], (256, 128)) * 0.08, "b2": jnp.zeros(128),
            "w3": jax.random.normal(keys[2], (128, KINDS)) * 0.05, "b3": jnp.zeros(KINDS)}}


def scores_of(params, taps):
    heard = jax.lax.conv_general_dilated(taps[:, None], params["bank"]["kernel"], (4,), "SAME")
    heard = jnp.log1p(jnp.square(heard).reshape(len(taps), FILTERS, 8, -1).mean(-1)).reshape(len(taps), -1)
    head = params["head"]
    x = jax.nn.relu(heard @ head["w1"] + head["b1"])
    x = jax.nn.relu(x @ head["w2"] + head["b2"])
    return x @ head["w3"] + head["b3"]


def loss_of(params, taps, kinds):
    scores = scores_of(params, taps)
    loss = optax.softmax_cross_entropy_with_integer_labels(scores, kinds).mean()
    return loss, (scores.argmax(-1) == kinds).mean()


def part(path, _):
    return "learn" if jax.tree_util.keystr(path).startswith("['head']") else "keep"


def main():
    params = make_params(jax.random.PRNGKey(6))
    labels = jax.tree_util.tree_map_with_path(part, params)
    optimizer = optax.multi_transform({"learn": optax.adam(1e-3), "keep": optax.set_to_zero()}, labels)
    state = optimizer.init(params)

    @jax.jit
    def train_step(params, state, taps, kinds):
        (loss, hits), gradients = jax.value_and_grad(loss_of, has_aux=True)(params, taps, kinds)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss, hits

    taps, kinds = draw_taps(8000, seed=2)
    random = np.random.default_rng(4)
    told = []
    for step in range(1, 200_001):
        chosen = random.integers(0, len(taps), BATCH)
        params, state, loss, hits = train_step(params, state, taps[chosen], kinds[chosen])
        told.append((float(loss), float(hits)))
        if step % 5 == 0:
            loss, hits = np.mean(told, 0)
            print(f"step {step} loss {loss:.4f} accuracy {hits:.3f}", flush=True)
            told = []


if __name__ == "__main__":
    main()
