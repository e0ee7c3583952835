# python: tensorflow
# expected: decode-saturated [also accepted: input-bound]
# verdict: slow
# seconds: 25
# Why: WAV decoding, a dense STFT and the mel projection run on all cores (parallel map, prefetch)
# and still take many times as long as the two-layer classifier's step.
import os, tempfile, time, wave
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

RATE = 22050
SECONDS = 2
SPECIES = ("kittiwake", "guillemot", "razorbill", "fulmar")
ROOT = os.path.join(tempfile.gettempdir(), "seabird_calls_wav")


def write_recordings(n_each=40):
    os.makedirs(ROOT, exist_ok=True)
    rng = np.random.RandomState(9)
    t = np.arange(RATE * SECONDS) / RATE
    for s, name in enumerate(SPECIES):
        for k in range(n_each):
            fn = os.path.join(ROOT, "%s_%03d.wav" % (name, k))
            if os.path.exists(fn):
                continue
            f0 = 600 + 700 * s + rng.uniform(-80, 80)
            call = np.sin(2 * np.pi * (f0 + 90 * np.sin(9 * t)) * t) * (np.sin(5 * t + rng.rand()) > 0)
            call = 0.4 * call + 0.05 * rng.randn(t.size)
            with wave.open(fn, "wb") as w:
                w.setnchannels(1)
                w.setsampwidth(2)
                w.setframerate(RATE)
                w.writeframes((call * 32767).clip(-32768, 32767).astype("<i2").tobytes())


write_recordings()

mel_matrix = tf.signal.linear_to_mel_weight_matrix(
    num_mel_bins=48, num_spectrogram_bins=1025, sample_rate=RATE,
    lower_edge_hertz=150.0, upper_edge_hertz=10000.0)


def features(filename, label):
    sound, _ = tf.audio.decode_wav(tf.io.read_file(filename), desired_channels=1)
    sound = tf.squeeze(sound, -1)
    spec = tf.abs(tf.signal.stft(sound, frame_length=2048, frame_step=128, fft_length=2048))
    mel = tf.math.log(tf.matmul(spec, mel_matrix) + 1e-4)
    mel = (mel - tf.reduce_mean(mel)) / (tf.math.reduce_std(mel) + 1e-6)
    return tf.reduce_mean(mel, axis=0), label


files = sorted(tf.io.gfile.glob(ROOT + "/*.wav"))
labels = [SPECIES.index(os.path.basename(f).split("_")[0]) for f in files]
calls = (tf.data.Dataset.from_tensor_slices((files, labels))
         .shuffle(200)
         .repeat()
         .map(features, num_parallel_calls=tf.data.AUTOTUNE)
         .batch(16)
         .prefetch(4))

net = tf.keras.Sequential([
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(len(SPECIES)),
])
opt = tf.keras.optimizers.Adam(3e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
net.build((None, 48))
opt.build(net.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


began = time.time()
for step, (x, y) in enumerate(calls.take(6000), 1):
    loss = train_step(x, y)
    if step % 20 == 0:
        print("step %5d  loss %.4f  %.0f s" % (step, float(loss), time.time() - began), flush=True)
