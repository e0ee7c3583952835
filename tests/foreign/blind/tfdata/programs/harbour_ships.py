# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: the decoded PNG files are cached and only flipped and brightened anew in each epoch; a step
# of the residual network takes about a second on all cores.
import os, time, pathlib, tempfile
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from PIL import Image, ImageDraw
from tensorflow.keras import layers, Model, Input

IMAGES = pathlib.Path(tempfile.gettempdir(), "harbour_ships")
TYPES = {"tanker": 0, "tug": 1, "ferry": 2}


def draw_ships(each=50):
    IMAGES.mkdir(exist_ok=True)
    rng = np.random.default_rng(20)
    for name, k in TYPES.items():
        for i in range(each):
            file = IMAGES / f"{name}-{i}.png"
            if file.exists():
                continue
            sea = np.clip(rng.normal((40, 70, 110), 8, (128, 128, 3)), 0, 255).astype(np.uint8)
            im = Image.fromarray(sea)
            d = ImageDraw.Draw(im)
            x, y = rng.integers(10, 40, 2)
            d.rectangle((x, y + 30, x + (80, 25, 55)[k], y + 30 + (10, 14, 24)[k]), fill=(190, 60 + 60 * k, 50))
            im.save(file)


def open_image(path):
    name = tf.strings.regex_replace(path, r".*/([a-z]+)-\d+\.png$", r"\1")
    label = tf.argmax(tf.stack([tf.equal(name, n) for n in TYPES]))
    img = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(img, (112, 112)), label


def jitter(img, label):
    img = tf.image.random_flip_left_right(img / 255.0)
    img = tf.image.random_brightness(img, 0.15)
    return img, label


def residual(x, f, stride=1):
    y = layers.Conv2D(f, 3, strides=stride, padding="same", activation="relu")(x)
    y = layers.Conv2D(f, 3, padding="same")(y)
    if stride > 1 or x.shape[-1] != f:
        x = layers.Conv2D(f, 1, strides=stride)(x)
    return layers.LayerNormalization()(layers.ReLU()(layers.Add()([x, y])))


def resnet():
    i = Input((112, 112, 3))
    x = layers.Conv2D(32, 5, strides=2, padding="same", activation="relu")(i)
    for f, s in ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1)):
        x = residual(x, f, s)
    return Model(i, layers.Dense(len(TYPES))(layers.GlobalAveragePooling2D()(x)))


draw_ships()
files = sorted(str(p) for p in IMAGES.glob("*.png"))
ships = tf.data.Dataset.from_tensor_slices(files).map(open_image).cache()
ships = ships.shuffle(150).repeat().map(jitter, num_parallel_calls=2).batch(24).prefetch(1)

model = resnet()
opt = tf.keras.optimizers.SGD(0.005, momentum=0.9)
opt.build(model.trainable_variables)


@tf.function
def train_on(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True)))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


t0 = time.time()
for n, (x, y) in enumerate(ships.take(600), 1):
    print("iter %4d  loss %.4f  %6.1f s" % (n, train_on(x, y), time.time() - t0), flush=True)
