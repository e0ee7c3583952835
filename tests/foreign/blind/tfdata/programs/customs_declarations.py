# python: tensorflow
# expected: input-bound [also accepted: decode-saturated]
# verdict: slow
# seconds: 25
# Why: every line of the CSV file is decoded, split and hashed by itself (TensorFlow spreads
# the plain map over the cores, as it holds no random operation);
# a batch of 512 lines costs far more than the step of the small dense network.
import os
import random
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf

CSV = os.path.join(tempfile.gettempdir(), "customs_declarations_v2.csv")
GOODS = ["machine parts", "cotton shirts", "olive oil", "roasted coffee", "steel pipes",
         "ceramic tiles", "bicycle frames", "fresh citrus", "glass bottles", "copper wire"]
COLUMNS = 9
DEFAULTS = [""] + [0.0] * 5 + ["", ""] + [0]


def make_csv(lines=30000):
    if os.path.exists(CSV):
        return
    rnd = random.Random(77)
    with open(CSV + ".part", "w") as out:
        out.write("port,weight,value,pieces,duty,days,goods,tariff,inspected\n")
        for _ in range(lines):
            goods = rnd.randrange(len(GOODS))
            weight = rnd.gammavariate(2.0, 150.0)
            value = weight * (1 + goods) * rnd.uniform(0.5, 2.0)
            risk = 1 if value / (weight + 1) > 6 or rnd.random() < 0.05 else 0
            out.write("P%02d,%.2f,%.2f,%d,%.3f,%d,%s pallet %d,%04d.%02d.%02d,%d\n" % (
                rnd.randrange(40), weight, value, rnd.randrange(1, 400), rnd.uniform(0, 0.2),
                rnd.randrange(1, 30), GOODS[goods], rnd.randrange(900), 1000 + goods,
                rnd.randrange(99), rnd.randrange(99), risk))
    os.replace(CSV + ".part", CSV)


def parse(line):
    port, weight, value, pieces, duty, days, goods, tariff, y = tf.io.decode_csv(line, DEFAULTS)
    numbers = tf.math.log1p(tf.stack([weight, value, pieces, duty, days]))
    words = tf.strings.split(tf.strings.lower(goods), " ")
    word_ids = tf.strings.to_hash_bucket_fast(words[:3], 200)
    tariff = tf.strings.regex_replace(tariff, r"\.", "")
    chapter = tf.strings.to_number(tf.strings.substr(tariff, 0, 4), tf.int32) % 50
    return {
        "numbers": numbers,
        "words": tf.ensure_shape(word_ids, (3,)),
        "port": tf.strings.to_hash_bucket_fast(port, 64),
        "chapter": chapter,
    }, y


def network():
    numbers = tf.keras.Input((5,), name="numbers")
    words = tf.keras.Input((3,), dtype="int64", name="words")
    port = tf.keras.Input((), dtype="int64", name="port")
    chapter = tf.keras.Input((), dtype="int32", name="chapter")
    w = tf.keras.layers.Flatten()(tf.keras.layers.Embedding(200, 6)(words))
    p = tf.keras.layers.Embedding(64, 4)(port)
    c = tf.keras.layers.Embedding(50, 4)(chapter)
    h = tf.keras.layers.Concatenate()([numbers, w, p, c])
    h = tf.keras.layers.Dense(48, activation="relu")(h)
    out = tf.keras.layers.Dense(1, activation="sigmoid")(h)
    return tf.keras.Model([numbers, words, port, chapter], out)


make_csv()
declarations = tf.data.TextLineDataset(CSV).skip(1).shuffle(4000, seed=1).repeat()
declarations = declarations.map(parse).batch(512)

model = network()
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["AUC"])
history = model.fit(declarations, steps_per_epoch=200, epochs=50, verbose=2)
print("best AUC", max(history.history["AUC"]))
