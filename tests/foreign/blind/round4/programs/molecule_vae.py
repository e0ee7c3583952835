# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: Looks suspicious because the first step compiles for several seconds (XLA, an unrolled decoder) and nothing is printed meanwhile; after that it runs evenly.
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

ALPHABET, LENGTH, LATENT, HIDDEN = 24, 16, 32, 160
BATCH = 128


def dense(n_in, n_out):
    limit = np.sqrt(6.0 / (n_in + n_out))
    w = tf.Variable(tf.random.uniform((n_in, n_out), -limit, limit))
    return w, tf.Variable(tf.zeros((n_out,)))


class MoleculeVAE(tf.Module):
    def __init__(self):
        super().__init__()
        self.e1 = dense(ALPHABET * LENGTH, 256)
        self.e2 = dense(256, 2 * LATENT)
        self.d0 = dense(LATENT, HIDDEN)
        self.gates = dense(HIDDEN + ALPHABET + LATENT, 2 * HIDDEN)
        self.cand = dense(HIDDEN + ALPHABET + LATENT, HIDDEN)
        self.read = dense(HIDDEN, ALPHABET)

    def losses(self, onehot):
        flat = tf.reshape(onehot, (-1, ALPHABET * LENGTH))
        h = tf.nn.relu(flat @ self.e1[0] + self.e1[1])
        mean, logvar = tf.split(h @ self.e2[0] + self.e2[1], 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal((BATCH, LATENT))
        state = tf.tanh(z @ self.d0[0] + self.d0[1])
        previous = tf.zeros_like(onehot[:, 0])
        nll = 0.0
        for t in range(LENGTH):
            joined = tf.concat([state, previous, z], axis=1)
            r, u = tf.split(tf.sigmoid(joined @ self.gates[0] + self.gates[1]), 2, axis=1)
            c = tf.tanh(tf.concat([r * state, previous, z], axis=1) @ self.cand[0] + self.cand[1])
            state = u * state + (1 - u) * c
            logits = state @ self.read[0] + self.read[1]
            nll += tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(onehot[:, t], logits))
            previous = onehot[:, t]
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), 1))
        return nll / LENGTH, kl


model = MoleculeVAE()
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(list(model.trainable_variables))


@tf.function(jit_compile=True)
def update(onehot):
    with tf.GradientTape() as tape:
        nll, kl = model.losses(onehot)
        total = nll + 0.002 * kl
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(total, variables), variables))
    return nll, kl


def main():
    rng = np.random.default_rng(9)
    motifs = rng.integers(0, ALPHABET, (40, 8))
    strings = motifs[rng.integers(0, 40, (30000, LENGTH // 8))].reshape(-1, LENGTH)
    data = tf.data.Dataset.from_tensor_slices(strings.astype(np.int32)).shuffle(30000).repeat()
    data = data.batch(BATCH, drop_remainder=True).map(lambda s: tf.one_hot(s, ALPHABET)).prefetch(2)
    for step, batch in enumerate(data):
        nll, kl = update(batch)
        if step % 20 == 0:
            print(f"step {step} nll {float(nll):.4f} kl {float(kl):.3f}", flush=True)


main()
