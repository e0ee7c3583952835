# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: cleaning and splitting short titles (plain map, padded batches, prefetch) costs little
# against the softmax over thirty thousand words in every step.
"""Next-word model for recipe titles with a full softmax."""
import os
import random
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf

VOCAB = 30000
LENGTH = 10
TITLES = os.path.join(tempfile.gettempdir(), "recipe_titles.txt")


def invent_titles(n=20000):
    if os.path.exists(TITLES):
        return
    rnd = random.Random(15)
    style = ["Roasted", "Quick", "Grandma's", "Spicy", "Creamy", "Cold", "Baked", "Smoked"]
    main = ["Pumpkin", "Trout", "Lentil", "Chicken", "Aubergine", "Beetroot", "Barley", "Salmon"]
    dish = ["Soup", "Salad", "Pie", "Stew", "Gratin", "Risotto", "Curry"]
    extra = ["with Herbs", "and Rice", "in White Wine", "(serves 4)", "with Almonds & Lemon", ""]
    with open(TITLES + ".tmp", "w") as f:
        for _ in range(n):
            f.write(" ".join((rnd.choice(style), rnd.choice(main), rnd.choice(dish), rnd.choice(extra),
                              f"No. {rnd.randrange(50)}")) + "\n")
    os.replace(TITLES + ".tmp", TITLES)


def to_ids(title):
    title = tf.strings.lower(title)
    title = tf.strings.regex_replace(title, r"\(serves \d+\)", "")
    title = tf.strings.regex_replace(title, r"[^a-z0-9' ]", " ")
    words = tf.strings.split(title)[: LENGTH + 1]
    return tf.strings.to_hash_bucket_fast(words, VOCAB - 1) + 1


def batches(size):
    ds = tf.data.TextLineDataset(TITLES).shuffle(5000).repeat()
    ds = ds.map(to_ids)
    ds = ds.padded_batch(size, padded_shapes=[LENGTH + 1], drop_remainder=True)
    return ds.prefetch(3)


class TitleModel(tf.keras.Model):
    def __init__(self, width=96):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, width)
        self.conv = tf.keras.layers.Conv1D(width, 3, padding="causal", activation="tanh")
        self.scores = tf.keras.layers.Dense(VOCAB)

    def call(self, ids):
        return self.scores(self.conv(self.embed(ids)))


def main():
    invent_titles()
    model = TitleModel()
    optimizer = tf.keras.optimizers.SGD(0.5)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            logits = model(ids[:, :-1])
            target = ids[:, 1:]
            weight = tf.cast(target > 0, tf.float32)
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
            loss = tf.reduce_sum(ce * weight) / tf.reduce_sum(weight)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    started = time.time()
    for n, ids in enumerate(batches(32)):
        loss = step(ids)
        if n % 10 == 0:
            rate = (n + 1) / (time.time() - started)
            print(f"batch {n:6d} | perplexity {float(tf.exp(loss)):10.1f} | {rate:.2f} batches/s", flush=True)
        if n >= 5000:
            break


if __name__ == "__main__":
    main()
