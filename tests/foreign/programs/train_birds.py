# python: tensorflow
# expected: sequence-on-main-thread [also accepted: python-generator, input-bound]
# verdict: slow
# seconds: 18
# where: Image.open / resize / np.asarray
# seed: 004-1
# Why: a PyDataset with the default workers=1 makes one batch at a time. With the TensorFlow backend one tf.data thread
# calls __getitem__, not the main thread; the cure is the same: workers=.
import numpy as np
import tensorflow as tf
from PIL import Image

import make_files


class Birds(tf.keras.utils.PyDataset):
    def __init__(self, paths, batch_size):
        super().__init__()
        self.paths = paths
        self.batch_size = batch_size

    def __len__(self):
        return len(self.paths) // self.batch_size

    def __getitem__(self, index):
        paths = self.paths[index * self.batch_size:(index + 1) * self.batch_size]
        images = [np.asarray(Image.open(path).resize((64, 64))) / 255.0 for path in paths]
        return np.array(images, np.float32), np.random.randint(0, 10, len(images))


model = tf.keras.Sequential([
    tf.keras.layers.Input((64, 64, 3)),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(Birds(make_files.photos(300, 1024, 768), 16), epochs=30)
