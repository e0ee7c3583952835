# python: tensorflow
# expected: loss-output-mismatch [also accepted: loss-frozen]
# verdict: slow
# seconds: 25
# where: tf.square(strength
# Why: the network returns (batch, 1), the targets are (batch,): the difference is broadcast to (batch, batch),
# the network can only learn the mean and the loss stays at the variance of the targets.
"""Predict the compressive strength of concrete from its recipe."""

import numpy as np
import tensorflow as tf

INGREDIENTS = ("cement", "slag", "ash", "water", "plasticizer", "coarse", "fine", "age")


def mix_recipes(count, rng):
    low = np.array([100, 0, 0, 120, 0, 800, 590, 1], np.float32)
    high = np.array([540, 360, 200, 250, 32, 1145, 990, 365], np.float32)
    recipes = rng.uniform(low, high, (count, len(INGREDIENTS))).astype(np.float32)
    binder = recipes[:, 0] + 0.8 * recipes[:, 1] + 0.4 * recipes[:, 2]
    ratio = recipes[:, 3] / binder
    strength = 95 * np.exp(-1.6 * ratio) * np.log1p(recipes[:, 7]) / 4 + 0.2 * recipes[:, 4]
    strength += rng.normal(0, 1.5, count)
    return recipes, strength.astype(np.float32)


class StrengthNet(tf.keras.Model):
    def __init__(self, width=512):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(width, activation="gelu") for _ in range(3)]
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(3)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        for dense, norm in zip(self.hidden, self.norms):
            x = norm(dense(x))
        return self.out(x)


def main():
    rng = np.random.default_rng(17)
    tf.random.set_seed(17)
    recipes, strength = mix_recipes(60_000, rng)
    recipes = (recipes - recipes.mean(0)) / recipes.std(0)
    strength = (strength - strength.mean()) / strength.std()

    data = tf.data.Dataset.from_tensor_slices((recipes, strength))
    data = data.shuffle(20_000, seed=3).batch(256, drop_remainder=True).prefetch(2)

    net = StrengthNet()
    optimizer = tf.keras.optimizers.Adam(5e-4)

    @tf.function
    def update(recipe, strength):
        with tf.GradientTape() as tape:
            predicted = net(recipe, training=True)
            loss = tf.reduce_mean(tf.square(strength - predicted))
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        return loss, tf.linalg.global_norm(gradients)

    step = 0
    for epoch in range(1, 201):
        losses = []
        for recipe, target in data:
            loss, norm = update(recipe, target)
            losses.append(loss)
            step += 1
            if step % 50 == 0:
                print(f"step {step:6d}  mse {np.mean(losses[-50:]):.4f}  grad norm {norm:.3f}", flush=True)
        print(f"epoch {epoch:3d} done, mean mse {np.mean(losses):.4f}", flush=True)


if __name__ == "__main__":
    main()
