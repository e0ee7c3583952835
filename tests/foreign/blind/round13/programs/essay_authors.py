# python: tensorflow
# expected: garbage-collection
# verdict: slow
# seconds: 30
# where: gc.collect()
# Why: gc.collect() after every batch walks through the hundreds of thousands of Python objects of the corpus held
# as dicts and lists, which takes longer than the training step.
"""Who wrote this paragraph? Attribution of essays to their authors."""

import gc

import numpy as np
import tensorflow as tf
from tensorflow import keras

AUTHORS = 12
VOCABULARY = 6000
PARAGRAPHS = 100_000
WORDS = 24
BATCH = 128


def load_corpus(seed=0):
    """Every author prefers words of his own."""
    rng = np.random.default_rng(seed)
    favourites = rng.integers(0, VOCABULARY, (AUTHORS, 400))
    authors = rng.integers(0, AUTHORS, PARAGRAPHS)
    words = rng.integers(1, VOCABULARY, (PARAGRAPHS, WORDS))
    own = rng.random((PARAGRAPHS, WORDS)) < 0.25
    words[own] = favourites[authors[:, None], rng.integers(0, 400, (PARAGRAPHS, WORDS))][own]
    corpus = []
    for number, (author, row) in enumerate(zip(authors.tolist(), words.tolist())):
        corpus.append({"id": number, "author": author, "sentences": [row[:12], row[12:]]})
    return corpus


class AttributionTrainer:
    def __init__(self, corpus):
        self.corpus = corpus
        self.rng = np.random.default_rng(1)
        self.model = keras.Sequential([
            keras.layers.Embedding(VOCABULARY, 64),
            keras.layers.Conv1D(192, 3, activation="relu", padding="same"),
            keras.layers.Conv1D(192, 3, activation="relu", padding="same"),
            keras.layers.GlobalMaxPooling1D(),
            keras.layers.Dense(AUTHORS),
        ])
        self.optimizer = keras.optimizers.Adam(1e-3)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mean_loss = keras.metrics.Mean()
        self.accuracy = keras.metrics.SparseCategoricalAccuracy()

    def batches(self):
        order = self.rng.permutation(len(self.corpus))
        for start in range(0, len(order) - BATCH, BATCH):
            chosen = [self.corpus[i] for i in order[start:start + BATCH]]
            words = np.array([p["sentences"][0] + p["sentences"][1] for p in chosen], np.int32)
            yield words, np.array([p["author"] for p in chosen], np.int32)

    @tf.function
    def train_step(self, words, authors):
        with tf.GradientTape() as tape:
            logits = self.model(words, training=True)
            loss = self.loss(authors, logits)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        self.mean_loss.update_state(loss)
        self.accuracy.update_state(authors, logits)

    def run_epoch(self, epoch):
        self.mean_loss.reset_state()
        self.accuracy.reset_state()
        for step, (words, authors) in enumerate(self.batches(), 1):
            self.train_step(tf.constant(words), tf.constant(authors))
            del words, authors
            gc.collect()
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {self.mean_loss.result():.4f} "
                      f"accuracy {self.accuracy.result():.4f}", flush=True)


if __name__ == "__main__":
    tf.random.set_seed(2)
    trainer = AttributionTrainer(load_corpus())
    print(f"{len(trainer.corpus)} paragraphs by {AUTHORS} authors", flush=True)
    for epoch in range(1, 21):
        trainer.run_epoch(epoch)
