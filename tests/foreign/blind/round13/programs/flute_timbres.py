# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: another process draws the notes and sleeps most of the time because its queue is full, and one of the two
# terms of the loss grows; both are as they should be, the sum falls and the network is the work.
"""A variational autoencoder for the timbres of flutes; notes come from a process of their own."""

import multiprocessing as mp

import numpy as np

BINS = 384
BATCH = 512


def play_notes(notes, seed):
    """Spectra of notes: a pitch, overtones that fade, some breath."""
    rng = np.random.default_rng(seed)
    pitch = np.linspace(8, 30, 400)
    bins = np.arange(BINS)
    shapes = []
    for p in pitch:
        harmonics = [np.exp(-0.5 * ((bins - p * k) / 1.5) ** 2) for k in range(1, 10)]
        shapes.append(np.stack(harmonics))
    shapes = np.stack(shapes).astype(np.float32)
    breath = np.abs(rng.normal(0, 0.05, (4096, BINS))).astype(np.float32)
    while True:
        chosen = rng.integers(0, len(pitch))
        fade = np.exp(-rng.uniform(0.1, 1.2, (64, 1)) * np.arange(9)).astype(np.float32)
        batch = [fade @ shapes[chosen]]
        for _ in range(BATCH // 64 - 1):
            fade = np.exp(-rng.uniform(0.1, 1.2, (64, 1)) * np.arange(9)).astype(np.float32)
            batch.append(fade @ shapes[rng.integers(0, len(pitch))])
        start = rng.integers(0, len(breath) - BATCH)
        notes.put(np.concatenate(batch) + breath[start:start + BATCH])


def train(notes):
    import tensorflow as tf
    from tensorflow import keras

    def tower(sizes, out):
        inner = [keras.layers.Dense(s, activation="swish") for s in sizes]
        return keras.Sequential([*inner, keras.layers.Dense(out)])

    tf.random.set_seed(18)
    encoder, decoder = tower((1024, 1024), 2 * 24), tower((1024, 1024), BINS)
    encoder.build((None, BINS))
    decoder.build((None, 24))
    weights = encoder.trainable_variables + decoder.trainable_variables
    optimizer = keras.optimizers.Adam(5e-4)
    optimizer.build(weights)

    @tf.function
    def step(spectra):
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(encoder(spectra), 2, axis=-1)
            code = mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))
            error = 0.5 * tf.reduce_mean(tf.reduce_sum(tf.square(decoder(code) - spectra), -1)) / 0.05
            divergence = -0.5 * tf.reduce_mean(
                tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), -1))
            loss = error + divergence
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss, error, divergence

    count = 0
    while True:
        loss, error, divergence = step(tf.convert_to_tensor(notes.get()))
        count += 1
        if count % 10 == 0:
            print(f"step {count} loss {float(loss):.3f} reconstruction {float(error):.3f} "
                  f"kl {float(divergence):.3f}", flush=True)


if __name__ == "__main__":
    queue = mp.Queue(maxsize=6)
    player = mp.Process(target=play_notes, args=(queue, 5), daemon=True)
    player.start()
    try:
        train(queue)
    except KeyboardInterrupt:
        player.terminate()
