# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: batches of different lengths come from buckets, the step has an input signature with open dimensions and is traced once;
# step times differ because long minutes are more work.
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

WORDS, TOPICS, LONGEST = 8000, 9, 384


def minutes(count, seed=0):
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(4.8, 0.6, count), 16, LONGEST).astype(np.int32)
    topics = rng.integers(0, TOPICS, count).astype(np.int32)
    words = rng.integers(1, WORDS, (count, LONGEST))
    marked = rng.random((count, LONGEST)) < 0.15
    words = np.where(marked, 1 + topics[:, None] * 40 + words % 40, words).astype(np.int32)
    return words, lengths, topics


def pipeline():
    words, lengths, topics = minutes(8000)
    data = tf.data.Dataset.from_tensor_slices((words, lengths, topics)).shuffle(8000).repeat()
    data = data.map(lambda w, n, t: (w[:n], t), num_parallel_calls=2)
    data = data.bucket_by_sequence_length(
        lambda w, t: tf.shape(w)[0],
        bucket_boundaries=[65, 129, 193, 257],
        bucket_batch_sizes=[48, 32, 24, 16, 16],
        padded_shapes=([None], []),
    )
    return data.prefetch(tf.data.AUTOTUNE)


class Reader(tf.Module):
    def __init__(self, width=192):
        super().__init__()
        self.embed = layers.Embedding(WORDS, width)
        self.convs = [layers.Conv1D(width, 5, padding="same", activation="gelu") for _ in range(3)]
        self.norms = [layers.LayerNormalization() for _ in range(3)]
        self.attend = layers.Dense(1)
        self.out = layers.Dense(TOPICS)
        self.parts = [self.embed, *self.convs, *self.norms, self.attend, self.out]

    def __call__(self, words):
        x = self.embed(words)
        for conv, norm in zip(self.convs, self.norms):
            x = x + norm(conv(x))
        padding = tf.cast(words == 0, tf.float32)[..., None]
        weight = tf.nn.softmax(self.attend(x) - 1e9 * padding, axis=1)
        return self.out(tf.reduce_sum(weight * x, axis=1))

    @property
    def weights(self):
        return [v for part in self.parts for v in part.trainable_variables]


reader = Reader()
reader(tf.zeros((1, 8), tf.int32))
weights = reader.weights
optimizer = tf.keras.optimizers.Adam(5e-4)
optimizer.build(weights)


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)])
def learn(words, topics):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=topics, logits=reader(words)))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


tick = time.perf_counter()
for step, (words, topics) in enumerate(pipeline(), start=1):
    loss = learn(words, topics)
    if step % 10 == 0:
        now = time.perf_counter()
        print(f"step {step}: loss {loss:.4f}, shape {tuple(words.shape)}, {(now - tick) * 100:.0f} ms/step", flush=True)
        tick = now
