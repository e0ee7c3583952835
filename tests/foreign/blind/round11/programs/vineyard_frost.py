# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: a second process waits on a pipe nearly all the time (it writes the log), a large teacher network keeps its weights on purpose, and the loss is read every step: all as it should be.
"""Frost warnings for vineyards: a small student learns from a larger, fixed teacher."""
import json
import multiprocessing as mp
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def scribe(reader, writer, path):
    """Collects the records of the training process in a file of JSON lines."""
    writer.close()
    with open(path, "w") as out:
        while True:
            try:
                record = reader.recv()
            except EOFError:
                return
            out.write(json.dumps(record) + "\n")
            out.flush()


def main():
    reader, writer = mp.Pipe(duplex=False)
    path = os.path.join(tempfile.mkdtemp(prefix="vineyard_"), "log.jsonl")
    helper = mp.get_context("fork").Process(target=scribe, args=(reader, writer, path), daemon=True)
    helper.start()
    reader.close()

    import numpy as np
    import tensorflow as tf
    import keras
    from keras import layers

    keras.utils.set_random_seed(12)
    width, classes = 128, 5
    teacher = keras.Sequential([keras.Input((width,))] + [
        layers.Dense(1024, activation="tanh", kernel_initializer=keras.initializers.RandomNormal(stddev=0.08))
        for _ in range(2)
    ] + [layers.Dense(classes, kernel_initializer=keras.initializers.RandomNormal(stddev=0.12))])
    teacher.trainable = False
    student = keras.Sequential([
        keras.Input((width,)),
        layers.Dense(768, activation="relu"),
        layers.Dense(768, activation="relu"),
        layers.Dense(classes),
    ])
    optimizer = keras.optimizers.Adam(3e-4)
    optimizer.build(student.trainable_variables)

    @tf.function
    def distil(x):
        target = tf.nn.softmax(teacher(x, training=False) / 2.0)
        with tf.GradientTape() as tape:
            guess = student(x, training=True) / 2.0
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target, guess))
            floor = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target, tf.math.log(target + 1e-9)))
        grads = tape.gradient(loss, student.trainable_variables)
        optimizer.apply_gradients(zip(grads, student.trainable_variables))
        return loss - floor

    rng = np.random.default_rng(3)
    weather = rng.normal(0, 1, (24000, width)).astype("float32")
    recent = []
    for step in range(1, 60001):
        batch = weather[rng.integers(0, len(weather), 512)]
        divergence = distil(tf.constant(batch)).numpy()
        recent.append(float(divergence))
        if step % 20 == 0:
            record = {"step": step, "divergence": round(float(np.mean(recent)), 5)}
            recent.clear()
            writer.send(record)
            print(f"step {record['step']} divergence {record['divergence']}", flush=True)
    writer.close()
    helper.join(5)


if __name__ == "__main__":
    main()
