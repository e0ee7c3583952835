# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: steps of very different lengths (phrases in buckets of like length) and recurrent layers that leave a core half idle: that is the model's nature.
"""The next chord of a cantata: four voices, phrases of 8 to 64 beats, two GRU layers, bucketed batches."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

VOICES, PITCHES = 4, 40
BOUNDS = [16, 24, 32, 48]
SIZES = [48, 40, 32, 24, 16]
RANGES = [(18, 36), (12, 28), (7, 22), (1, 17)]


def phrase(rng):
    """Voices that walk through a key by small steps towards a cadence; 1.. are pitches, 0 is padding."""
    key = np.flatnonzero(np.isin((np.arange(PITCHES) - rng.integers(12)) % 12, [0, 2, 4, 5, 7, 9, 11]))
    beats = int(np.clip(rng.gamma(3, 9), 8, 64))
    chords = np.empty((beats, VOICES), "int32")
    for voice, (low, high) in enumerate(RANGES):
        scale = key[(key >= low) & (key <= high)]
        steps = rng.choice([-2, -1, 0, 1, 2], beats, p=[0.08, 0.3, 0.24, 0.3, 0.08])
        place = len(scale) // 2 + np.cumsum(steps)
        place = np.abs((place + len(scale) - 1) % (2 * len(scale) - 2) - len(scale) + 1)
        chords[:, voice] = scale[place]
    return chords


def batches(phrases):
    def each():
        yield from phrases

    data = tf.data.Dataset.from_generator(each, output_signature=tf.TensorSpec([None, VOICES], tf.int32))
    return (data.cache().shuffle(len(phrases), reshuffle_each_iteration=True)
            .bucket_by_sequence_length(lambda chords: tf.shape(chords)[0], BOUNDS, SIZES, drop_remainder=True)
            .prefetch(4))


def composer():
    inputs = keras.Input((None, VOICES), dtype="int32")
    x = layers.Embedding(PITCHES, 48)(inputs)
    x = layers.Reshape((-1, VOICES * 48))(x)
    x = layers.GRU(256, return_sequences=True)(x)
    x = layers.Dropout(0.1)(x)
    x = layers.GRU(256, return_sequences=True)(x)
    x = layers.Dense(VOICES * PITCHES)(x)
    return keras.Model(inputs, layers.Reshape((-1, VOICES, PITCHES))(x))


def main():
    keras.utils.set_random_seed(16)
    rng = np.random.default_rng(1685)
    phrases = [phrase(rng) for _ in range(3000)]
    print(f"{len(phrases)} phrases, {sum(map(len, phrases))} chords", flush=True)
    model, optimizer = composer(), keras.optimizers.Adam(2e-3, global_clipnorm=1.0)
    optimizer.build(model.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([None, None, VOICES], tf.int32)])
    def step(chords):
        heard, sung = chords[:, :-1], chords[:, 1:]
        weight = tf.cast(sung > 0, tf.float32)
        with tf.GradientTape() as tape:
            logits = model(heard, training=True)
            errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=sung, logits=logits)
            loss = tf.reduce_sum(errors * weight) / tf.reduce_sum(weight)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    training = batches(phrases)
    number, since = 0, time.perf_counter()
    for epoch in range(400):
        for chords in training:
            number += 1
            loss = step(chords)
            if number % 5 == 0:
                print(f"epoch {epoch} step {number} beats {chords.shape[1]:2d} loss {float(loss):.3f} "
                      f"{time.perf_counter() - since:.1f} s", flush=True)


if __name__ == "__main__":
    main()
