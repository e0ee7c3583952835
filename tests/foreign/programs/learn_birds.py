# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 20
# seed: 004-2, 004-3
# Why: a PyDataset whose __getitem__ takes the next batch of a tf.data pipeline: still one call at a time, but a call
# finds its batch ready, because the model takes longer than the decoding.
import tensorflow as tf

import make_files


class Birds(tf.keras.utils.PyDataset):
    def __init__(self, paths, batch_size):
        super().__init__()
        self.batches = len(paths) // batch_size
        self.data = tf.data.Dataset.from_tensor_slices(paths).repeat()
        self.data = self.data.map(self.load, num_parallel_calls=tf.data.AUTOTUNE).batch(batch_size)
        self.iterator = iter(self.data.prefetch(tf.data.AUTOTUNE))

    def load(self, path):
        image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
        image = tf.image.random_flip_left_right(tf.image.resize(image, [64, 64]))
        return image / 255.0, tf.strings.to_hash_bucket_fast(path, 10)

    def __len__(self):
        return self.batches

    def __getitem__(self, index):
        return next(self.iterator)


model = tf.keras.Sequential([
    tf.keras.layers.Input((64, 64, 3)),
    tf.keras.layers.Conv2D(48, 3, activation="relu"),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(Birds(make_files.photos(200, 160, 120) * 4, 16), epochs=20)
