"""Find promoters in DNA fragments of different lengths."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

BATCH = 24
FRAGMENTS = 12000
SHORTEST, LONGEST = 120, 700
MOTIFS = ("TATAAT", "TTGACA")


def draw_fragments(count, seed):
    rng = np.random.default_rng(seed)
    code = {"A": 1, "C": 2, "G": 3, "T": 4}
    motifs = [np.array([code[c] for c in motif], np.uint8) for motif in MOTIFS]
    lengths = rng.integers(SHORTEST, LONGEST, count)
    labels = rng.integers(0, 2, count).astype(np.float32)
    fragments = []
    for length, label in zip(lengths, labels):
        bases = rng.integers(1, 5, length).astype(np.uint8)
        if label:
            for motif in motifs:
                for _ in range(2):
                    start = rng.integers(0, length - len(motif))
                    bases[start:start + len(motif)] = motif
        fragments.append(bases)
    return fragments, labels


def as_dataset(fragments, labels, training):
    flat = tf.RaggedTensor.from_row_lengths(np.concatenate(fragments), [len(f) for f in fragments])
    data = tf.data.Dataset.from_tensor_slices((flat, labels))
    if training:
        data = data.shuffle(len(labels), seed=1)
    data = data.map(lambda bases, label: (tf.cast(bases, tf.int32), label))
    data = data.padded_batch(BATCH, padded_shapes=([None], []), drop_remainder=True)
    return data.prefetch(tf.data.AUTOTUNE)


def conv_block(x, filters, width):
    shortcut = layers.Conv1D(filters, 1, padding="same")(x)
    x = layers.Conv1D(filters, width, padding="same")(x)
    x = layers.LayerNormalization()(x)
    x = layers.Activation("relu")(x)
    x = layers.Conv1D(filters, width, padding="same")(x)
    x = layers.LayerNormalization()(x)
    return layers.Activation("relu")(layers.Add()([x, shortcut]))


def build_network():
    bases = keras.Input((None,), dtype="int32")
    x = layers.Embedding(5, 16)(bases)
    for filters in (32, 48):
        x = conv_block(x, filters, 7)
    x = layers.Concatenate()([layers.GlobalMaxPooling1D()(x), layers.GlobalAveragePooling1D()(x)])
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(bases, layers.Dense(1)(x))


class Progress(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 2 == 0:
            print(f"batch {batch:5d}  loss {logs['loss']:.4f}  auc {logs['auc']:.3f}", flush=True)


keras.utils.set_random_seed(11)
fragments, labels = draw_fragments(FRAGMENTS, seed=5)
split = int(0.95 * FRAGMENTS)
train = as_dataset(fragments[:split], labels[:split], training=True)
held_out = as_dataset(fragments[split:], labels[split:], training=False)
print(f"{split} fragments for training, {FRAGMENTS - split} held out", flush=True)

network = build_network()
network.compile(
    optimizer=keras.optimizers.AdamW(2e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
network.fit(train, epochs=30, validation_data=held_out, verbose=2, callbacks=[Progress()])
