import os
import tempfile
import time
import wave

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

FS = 8000
folder = os.path.join(tempfile.gettempdir(), "whale_songs")
os.makedirs(folder, exist_ok=True)
UNITS = 5


def synthesize(n=150):
    rng = np.random.default_rng(55)
    t = np.arange(2 * FS) / FS
    for i in range(n):
        target = os.path.join(folder, f"unit{i % UNITS}_{i:03d}.wav")
        if os.path.exists(target):
            continue
        u = i % UNITS
        sweep = np.sin(2 * np.pi * (150 * (u + 1) * t + 40 * (u - 2) * t ** 2) + rng.uniform(0, 6))
        y = 0.5 * sweep + 0.1 * rng.standard_normal(t.size)
        with wave.open(target, "wb") as f:
            f.setparams((1, 2, FS, 0, "NONE", ""))
            f.writeframes((y * 20000).astype("<i2").tobytes())


def spectrogram(path, unit):
    audio = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1, desired_samples=2 * FS).audio
    s = tf.signal.stft(audio[:, 0], frame_length=256, frame_step=160)
    s = tf.math.log(tf.abs(s)[:96, :96] + 1e-3)
    return s[..., tf.newaxis], unit


synthesize()
paths = sorted(os.path.join(folder, f) for f in os.listdir(folder))
units = [int(os.path.basename(p)[4]) for p in paths]
songs = tf.data.Dataset.from_tensor_slices((paths, units))
songs = songs.shuffle(150).map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
songs = songs.repeat().batch(12, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
songs = songs.take(2).cache().repeat().prefetch(2)

L = tf.keras.layers
model = tf.keras.Sequential([
    tf.keras.Input((96, 96, 1)),
    L.Conv2D(24, 5, padding="same", activation="relu"),
    L.MaxPooling2D(2),
    L.Conv2D(64, 5, padding="same", activation="relu"),
    L.MaxPooling2D(2),
    L.Conv2D(96, 3, padding="same", activation="relu"),
    L.GlobalAveragePooling2D(),
    L.Dense(UNITS),
])
optimizer = tf.keras.optimizers.Adam(5e-4)
optimizer.build(model.trainable_variables)
lossfn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
acc = tf.keras.metrics.SparseCategoricalAccuracy()


@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = lossfn(y, logits)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    acc.update_state(y, logits)
    return loss


tic = time.time()
for step, (x, y) in enumerate(songs.take(3000)):
    loss = learn(x, y)
    if step % 10 == 0:
        print(f"step {step} loss {loss.numpy():.4f} accuracy {acc.result().numpy():.3f} "
              f"elapsed {time.time() - tic:.1f}", flush=True)
