# python: tensorflow
# expected: decode-saturated [also accepted: input-bound]
# verdict: slow
# seconds: 25
# Why: raw frames are cast to float, enlarged bicubically and jittered on both cores by a parallel
# map; the linear-ish classifier consumes a batch in a fraction of the time that it takes to make.
import os, sys, time, tempfile
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

H, W = 96, 128
KINDS = ["car", "van", "lorry", "bus", "bicycle", "empty"]
RECORD = 1 + H * W * 3
path = os.path.join(tempfile.gettempdir(), "traffic_crops.bin")


def dump_frames(count=900):
    if os.path.exists(path) and os.path.getsize(path) == count * RECORD:
        return
    rng = np.random.default_rng(66)
    with open(path, "wb") as f:
        for _ in range(count):
            kind = int(rng.integers(len(KINDS)))
            frame = rng.integers(70, 130, (H, W, 3), dtype=np.uint8)
            size = 8 * kind
            frame[40 - size // 2:40 + size, 50 - size:50 + size] += np.uint8(90)
            f.write(bytes([kind]) + frame.tobytes())


def unpack(record):
    data = tf.io.decode_raw(record, tf.uint8)
    kind = tf.cast(data[0], tf.int32)
    frame = tf.reshape(data[1:], (H, W, 3))
    frame = tf.cast(frame, tf.float32) / 255.0
    frame = tf.image.resize(frame, (224, 224), method=tf.image.ResizeMethod.BICUBIC)
    frame = tf.image.random_flip_left_right(frame)
    frame = tf.image.random_contrast(frame, 0.7, 1.3)
    frame = tf.image.adjust_gamma(tf.clip_by_value(frame, 0.0, 1.0), 1.2)
    frame = tf.image.per_image_standardization(frame)
    frame = tf.image.central_crop(frame, 0.875)
    return tf.nn.avg_pool2d(frame[None], 7, 7, "VALID")[0], kind


dump_frames()
frames = tf.data.FixedLengthRecordDataset(path, RECORD)
frames = frames.shuffle(300).repeat(400)
frames = frames.map(unpack, num_parallel_calls=2).batch(40, drop_remainder=True)

inputs = tf.keras.Input((28, 28, 3))
x = tf.keras.layers.SeparableConv2D(12, 3, activation="relu")(inputs)
x = tf.keras.layers.Flatten()(x)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(len(KINDS))(x))
adam = tf.keras.optimizers.Adam(1e-3)
adam.build(model.trainable_variables)
crossentropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean_loss = tf.keras.metrics.Mean()


@tf.function(reduce_retracing=True)
def one_update(batch, kinds):
    with tf.GradientTape() as tape:
        loss = crossentropy(kinds, model(batch, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    adam.apply_gradients(zip(gradients, model.trainable_variables))
    mean_loss.update_state(loss)


clock = time.monotonic()
for i, (batch, kinds) in enumerate(frames):
    one_update(batch, kinds)
    if (i + 1) % 25 == 0:
        sys.stdout.write(f"update {i + 1}: loss {mean_loss.result().numpy():.4f} "
                         f"({(time.monotonic() - clock) / 25 * 1000:.0f} ms/update)\n")
        sys.stdout.flush()
        mean_loss.reset_state()
        clock = time.monotonic()
model.save(os.path.join(tempfile.gettempdir(), "traffic_crops.keras"))
