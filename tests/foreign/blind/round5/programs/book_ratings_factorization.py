# python: tensorflow
# expected: step-time-grows [also accepted: host-memory-leak, retracing]
# verdict: slow
# seconds: 40
# where: tf.assign(model.lr / tf.assign / sess.run
# Why: each step adds new operations to the TF1 graph (tf.assign in the loop), so every sess.run has a larger graph to go through.
import logging
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("ratings")

USERS, BOOKS, RANK, BATCH = 6000, 4000, 24, 2048


def synthetic_ratings(n, seed=5):
    rng = np.random.RandomState(seed)
    u, b = rng.randint(0, USERS, n), rng.randint(0, BOOKS, n)
    pu, pb = rng.randn(USERS, 6) * 0.4, rng.randn(BOOKS, 6) * 0.4
    r = 3.4 + (pu[u] * pb[b]).sum(1) + 0.3 * rng.randn(n)
    return u.astype(np.int32), b.astype(np.int32), np.clip(r, 1, 5).astype(np.float32)


class Factorization(object):
    def __init__(self):
        self.user = tf.placeholder(tf.int32, [None], "user")
        self.book = tf.placeholder(tf.int32, [None], "book")
        self.rating = tf.placeholder(tf.float32, [None], "rating")
        init = tf.random_normal_initializer(stddev=0.05)
        P = tf.get_variable("P", [USERS, RANK], initializer=init)
        Q = tf.get_variable("Q", [BOOKS, RANK], initializer=init)
        bu = tf.get_variable("bu", [USERS], initializer=tf.zeros_initializer())
        bb = tf.get_variable("bb", [BOOKS], initializer=tf.zeros_initializer())
        mu = tf.get_variable("mu", [], initializer=tf.constant_initializer(3.0))
        p, q = tf.nn.embedding_lookup(P, self.user), tf.nn.embedding_lookup(Q, self.book)
        pred = mu + tf.gather(bu, self.user) + tf.gather(bb, self.book) + tf.reduce_sum(p * q, 1)
        self.mse = tf.reduce_mean(tf.square(pred - self.rating))
        reg = tf.nn.l2_loss(p) + tf.nn.l2_loss(q)
        self.lr = tf.get_variable("lr", [], initializer=tf.constant_initializer(0.01), trainable=False)
        self.loss = self.mse + 1e-6 * reg
        self.train = tf.train.AdamOptimizer(self.lr).minimize(self.loss)


def decay(step, base=0.01, half=4000):
    return base * 0.5 ** (step / half)


def main():
    u, b, r = synthetic_ratings(600_000)
    model = Factorization()
    order = np.random.RandomState(0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tic = time.time()
        for step in range(1, 2_000_000):
            sess.run(tf.assign(model.lr, decay(step)))
            pick = order.randint(0, len(r), BATCH)
            mse, _ = sess.run([model.mse, model.train],
                              {model.user: u[pick], model.book: b[pick], model.rating: r[pick]})
            if step % 50 == 0:
                log.info("step %d  rmse %.4f  lr %.5f  %.1f s", step, mse ** 0.5, decay(step), time.time() - tic)


if __name__ == "__main__":
    main()
