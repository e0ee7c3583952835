# python: loops
# truth: shape=compiles, step=computes, ask=waits for socket, batch=makes data
# Why: JAX with optax; flights grow longer and each new length is a new program; a tuner on 127.0.0.1 gives the rate.
import json
import socket
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax

from stopwatch import part, started

TUNER = """
import json, math, socket, sys
talk = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
lines = talk.makefile("rwb")
for line in lines:
    losses = json.loads(line)
    best = (float("inf"), 1e-3)
    for k in range(220_000):
        rate = 10 ** (-4 + 2 * k / 220_000)
        best = min(best, (abs(math.log(rate) + 6 - losses[-1]), rate))
    lines.write(json.dumps(best[1]).encode() + b"\\n")
    lines.flush()
"""


def call_tuner():
    with socket.create_server(("127.0.0.1", 0)) as door:
        subprocess.Popen([sys.executable, "-c", TUNER, str(door.getsockname()[1])])
        return door.accept()[0].makefile("rwb")


def ask(tuner, losses):
    tuner.write(json.dumps(losses[-50:]).encode() + b"\n")
    tuner.flush()
    return json.loads(tuner.readline())


def fly(rng, count, length):
    """Kites in gusts: one after the other, moment by moment."""
    paths = np.empty((count, length, 6), np.float32)
    for kite in range(count):
        place, speed = rng.normal(size=3), np.zeros(3)
        gusts = rng.normal(size=(length, 3))
        for moment in range(length):
            speed = 0.9 * speed + 0.1 * gusts[moment] - 0.01 * place
            place = place + speed
            paths[kite, moment, :3], paths[kite, moment, 3:] = place, speed
    return paths


def weights(key, width):
    keys = jax.random.split(key, 4)
    return {"in": jax.random.normal(keys[0], (6, width)) / 3, "turn": jax.random.normal(keys[1], (width, width)) / width,
            "mix": jax.random.normal(keys[2], (width, width)) / width, "out": jax.random.normal(keys[3], (width, 6)) / 10}


def miss(params, paths):
    def moment(state, now):
        state = jnp.tanh(now @ params["in"] + state @ params["turn"])
        return state, jax.nn.gelu(state @ params["mix"]) @ params["out"]

    first = jnp.zeros((paths.shape[0], params["turn"].shape[0]))
    _, told = jax.lax.scan(moment, first, jnp.swapaxes(paths[:, :-1], 0, 1))
    return jnp.mean((told - jnp.swapaxes(paths[:, 1:], 0, 1)) ** 2)


def main():
    rng = np.random.default_rng(77)
    params = weights(jax.random.PRNGKey(0), 256)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
    state, losses, rate = optimizer.init(params), [1.0], 1e-3

    def update(params, state, paths, rate):
        loss, slopes = jax.value_and_grad(miss)(params, paths)
        moves, state = optimizer.update(slopes, state, params)
        return optax.apply_updates(params, jax.tree.map(lambda move: -rate * move, moves)), state, loss

    tuner, programs = call_tuner(), {}
    ask(tuner, losses)
    started()
    for step in range(50_000):
        length = 60 + step // 12 % 400
        with part("batch"):
            paths = fly(rng, 36, length).repeat(2, axis=0)
        if length not in programs:
            with part("shape"):
                programs[length] = jax.jit(update).lower(params, state, paths, rate).compile()
        with part("step"):
            params, state, loss = programs[length](params, state, paths, rate)
            losses.append(float(loss))
        if step % 6 == 5:
            with part("ask"):
                rate = ask(tuner, losses)
        if step % 24 == 0:
            print(f"step {step} length {length} loss {losses[-1]:.4f} rate {rate:.5f}", flush=True)


if __name__ == "__main__":
    main()
