# python: tensorflow
# expected: thread-oversubscription [also accepted: dataloader-workers]
# verdict: slow
# seconds: 30
# where: ACTORS = 5
# Why: five simulators run flat out beside the training, on two cores; most of what they compute is overwritten unread, and the
# trainer's own threads get a small share of the cores.
"""Learn a model of greenhouse air from simulators that fill a shared ring of episodes while the model trains on it."""
import multiprocessing as mp
import os

import numpy as np

ACTORS = 5
HOUSES = 64
HOURS = 72
FIELDS = 6
RING = 4_800
BATCH = 64
STEPS, EPOCHS = 100, 200


def simulate(rng):
    """Air, soil, humidity, CO2 under sun and vents of many houses, in steps of three minutes, kept once an hour."""
    air, soil, wet, gas = (rng.uniform(*span, HOUSES) for span in ((10, 25), (12, 20), (0.4, 0.9), (350, 900)))
    cloud, vent = rng.uniform(0.2, 1.0, HOUSES), rng.uniform(0.0, 1.0, HOUSES)
    story = np.empty((HOUSES, HOURS, FIELDS), "float32")
    for hour in range(HOURS):
        sun = cloud * max(0.0, np.sin((hour % 24 - 6) * np.pi / 12.0))
        for _ in range(20):
            air += 0.05 * (9.0 * sun + 0.4 * (soil - air) - 0.3 * (1.0 + 2.0 * vent) * (air - 12.0))
            soil += 0.05 * 0.05 * (air - soil)
            wet += 0.05 * (0.2 * sun * (1.0 - wet) - 0.3 * vent * (wet - 0.5))
            gas += 0.05 * (20.0 - 80.0 * sun - 0.5 * vent * (gas - 420.0))
        vent = np.clip(vent + 0.2 * rng.standard_normal(HOUSES) + 0.02 * (air - 22.0), 0.0, 1.0)
        story[:, hour] = np.stack([air / 20.0 - 1.0, soil / 20.0 - 1.0, wet, gas / 500.0 - 1.0, vent, np.full(HOUSES, sun)], 1)
    return story


def view(memory):
    return np.frombuffer(memory, "float32").reshape(RING, HOURS, FIELDS)


def act(memory, rank, ready):
    """One simulator: its episodes go round and round in its part of the ring, the newest over the oldest."""
    ring = view(memory)
    rng, part = np.random.default_rng(rank), RING // ACTORS
    at, parent = 0, os.getppid()
    while os.getppid() == parent:
        ring[rank * part + at:rank * part + at + HOUSES] = simulate(rng)
        at = (at + HOUSES) % part
        if at == 0:
            ready.set()


def train(ring, wait):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import keras

    keras.utils.set_random_seed(23)

    class Episodes(keras.utils.PyDataset):
        rng = np.random.default_rng(23)

        def __len__(self):
            return STEPS

        def __getitem__(self, index):
            episodes = ring[self.rng.integers(0, RING, BATCH)]
            return episodes[:, :-1], np.diff(episodes[:, :, :4], axis=1) * 10.0

    inputs = keras.Input((HOURS - 1, FIELDS))
    x = keras.layers.Conv1D(64, 5, padding="causal", activation="relu")(inputs)
    for rate in (2, 4, 8):
        x = x + keras.layers.Conv1D(64, 5, padding="causal", dilation_rate=rate, activation="relu")(x)
    model = keras.Model(inputs, keras.layers.Dense(4)(x), name="air")
    model.compile(optimizer=keras.optimizers.Adam(5e-4), loss="mse")
    wait()
    model.fit(Episodes(), epochs=EPOCHS)
    model.save("air.keras")


def main():
    context = mp.get_context("spawn")
    memory = context.RawArray("f", RING * HOURS * FIELDS)
    ready = [context.Event() for _ in range(ACTORS)]
    actors = [context.Process(target=act, args=(memory, rank, ready[rank]), daemon=True) for rank in range(ACTORS)]

    def wait():
        for actor in actors:
            actor.start()
        for event in ready:
            event.wait()
        print(f"{ACTORS} simulators have filled the ring once", flush=True)

    train(view(memory), wait)


if __name__ == "__main__":
    main()
