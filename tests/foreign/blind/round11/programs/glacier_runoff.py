# python: loops
# expected: waits-for-pipe
# verdict: stuck
# seconds: 35
# where: pipe.read
# Why: the melt model runs as a child with stdout=PIPE and stderr=PIPE and nobody reads stderr: once its warnings fill that pipe the child
# stops in write, and the trainer waits for ever for the next block on stdout.
"""Emulator of a glacier runoff model: the simulator is a child process, the emulator is trained in JAX as blocks arrive."""
import struct
import subprocess
import sys
import time

import numpy as np

FEATURES, ROWS = 12, 256


def simulate(seed):
    """Child: degree-day melt with refreezing, blocks of rows to standard output."""
    rng = np.random.default_rng(seed)
    out = sys.stdout.buffer
    serial = 0
    while True:
        forcing = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
        store = np.zeros(ROWS, np.float32)
        runoff = np.zeros(ROWS, np.float32)
        for day in range(60):
            temperature = forcing[:, day % FEATURES] + np.sin(day / 9.5)
            snow = np.where(temperature < 0, np.abs(forcing[:, (day * 5) % FEATURES]), 0)
            melt = np.minimum(store + snow, np.maximum(temperature, 0) * 0.7)
            store = store + snow - melt
            runoff += melt
        dry = int((store > 12).sum())
        print(f"WARNING block {serial}: snow store above capacity in {dry} of {ROWS} cells, excess routed to firn; "
              f"max store {store.max():.2f} m w.e., mean runoff {runoff.mean():.3f} m w.e.; see namelist section 'hydro' "
              f"(store_cap, firn_exchange) to change the limits for this basin", file=sys.stderr, flush=True)
        block = np.concatenate([forcing, runoff[:, None] / 10], axis=1).astype(np.float32).tobytes()
        out.write(struct.pack("<I", len(block)) + block)
        out.flush()
        serial += 1


class Simulator:
    def __init__(self, seed):
        self.child = subprocess.Popen(
            [sys.executable, __file__, "--simulate", str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def block(self):
        pipe = self.child.stdout
        (size,) = struct.unpack("<I", pipe.read(4))
        rows = np.frombuffer(pipe.read(size), np.float32).reshape(ROWS, FEATURES + 1)
        return rows[:, :-1], rows[:, -1]


def train():
    import jax
    import jax.numpy as jnp
    import optax

    sizes = [FEATURES, 512, 512, 512, 1]
    keys = jax.random.split(jax.random.PRNGKey(4), len(sizes))
    params = [
        {"w": jax.random.normal(k, (i, o)) * np.sqrt(2 / i), "b": jnp.zeros(o)}
        for k, i, o in zip(keys, sizes[:-1], sizes[1:])
    ]
    optimizer = optax.adam(optax.cosine_decay_schedule(1e-3, 50000))

    def emulate(params, x):
        for layer in params[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]

    @jax.jit
    def update(params, state, x, y):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((emulate(p, x) - y) ** 2))(params)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    state = optimizer.init(params)
    simulator = Simulator(seed=9)
    began = time.time()
    for step in range(1, 50001):
        x, y = simulator.block()
        params, state, loss = update(params, state, x, y)
        if step % 10 == 0:
            print(f"step {step:6d}  mse {float(loss):.5f}  {step / (time.time() - began):.1f} blocks/s", flush=True)
    simulator.child.kill()


if __name__ == "__main__":
    if "--simulate" in sys.argv:
        simulate(int(sys.argv[-1]))
    else:
        train()
