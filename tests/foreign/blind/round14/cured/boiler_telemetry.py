# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the twin without the fault.
"""Predict a boiler's flue gas from live telemetry: a gateway process samples the sensors and hands frames over in batches."""
import subprocess
import sys

SENSORS = 24
SPAN = 60
BATCH = 32
FRAME = (SENSORS * SPAN + 1) * 4


def gateway():
    """Samples the boiler for ever; each batch of frames goes to stdout, remarks about the sensors go to stderr."""
    import numpy as np

    rng = np.random.default_rng(17)
    mixing = rng.normal(0, 1, (SENSORS, 5)).astype("float32")
    t = np.arange(SPAN, dtype="float32")
    while True:
        frames = np.empty((BATCH, SENSORS * SPAN + 1), "float32")
        for i in range(BATCH):
            load = rng.uniform(0.4, 1.0)
            states = np.stack([np.sin(t * rng.uniform(0.05, 0.3) + rng.uniform(0, 6)) * load for _ in range(5)])
            signals = mixing @ states + rng.normal(0, 0.3, (SENSORS, SPAN))
            late = signals[:, -10:].mean(1)
            frames[i, :-1] = signals.T.ravel()
            frames[i, -1] = 2 * load + 0.3 * np.tanh(late @ mixing[:, 0] / SENSORS)
            drift = int(np.abs(late).argmax())
            if abs(late[drift]) > 1.0:
                print(f"gateway: sensor {drift:02d} deviates by {late[drift]:+.3f} at load {load:.2f}, kept", file=sys.stderr)
        sys.stdout.buffer.write(frames.tobytes())
        sys.stdout.buffer.flush()


def live_batches():
    import numpy as np

    gateway = subprocess.Popen([sys.executable, __file__, "--gateway"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        while True:
            raw = gateway.stdout.read(BATCH * FRAME)
            if len(raw) < BATCH * FRAME:
                raise RuntimeError("the gateway ended")
            frames = np.frombuffer(raw, "float32").reshape(BATCH, -1)
            yield frames[:, :-1].reshape(BATCH, SPAN, SENSORS), frames[:, -1:]
    finally:
        gateway.kill()


def main():
    import keras
    import tensorflow as tf
    from keras import layers

    keras.utils.set_random_seed(1)
    model = keras.Sequential([
        keras.Input((SPAN, SENSORS)),
        layers.Conv1D(128, 5, padding="same", activation="relu"),
        layers.Conv1D(128, 5, padding="same", activation="relu"),
        layers.Conv1D(192, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(192, 5, padding="same", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ])
    optimizer = keras.optimizers.Adam(1e-3)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    for number, (x, y) in enumerate(live_batches(), 1):
        loss = step(tf.constant(x), tf.constant(y))
        if number % 5 == 0:
            print(f"batch {number}  mse {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    gateway() if "--gateway" in sys.argv else main()
