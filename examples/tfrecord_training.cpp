// From a TFRecord file of JPEGs to a trained model. With its index, shuffle draws record numbers,
// not decoded images, and a file that is missing is named before anything starts (seed example
// 000-3). Prints:
//
//   missing: no file matches no-such.tfrecord
//   200 records with random access: yes
//   first batch: image float32 32x24x24x3, label int64 32
//   decoded images held for shuffling: 0 bytes
//   accuracy above 0.95 after 5 epochs: yes
#include <headway/io/bytes/temp_folder.h>
#include <headway/io/images/jpeg.h>
#include <headway/io/records/tfrecord_writer.h>
#include <headway/train/train.h>

#include <cstdio>

using namespace headway;

// Dark and light photographs, labels 0 and 1.
void write_photos(const std::string& path) {
  TFRecordWriter writer(path, {.index = true});
  ExampleWriter example;
  for (int i = 0; i < 200; ++i) {
    const std::vector<uint8_t> pixels(3 * 32 * 32,
                                      static_cast<uint8_t>((i % 2 ? 150 : 10) + i / 3));
    const auto jpeg = encode_jpeg(pixels.data(), 32, 32, 3, 3 * 32);
    example.bytes("image", std::string(jpeg.begin(), jpeg.end())).int64("label", i % 2);
    writer.write(example.finish());
  }
  writer.close();
}

int main() {
  try {
    tfrecord("no-such.tfrecord");
    return 1;
  } catch (const Error& e) {
    std::printf("missing: %s\n", e.problem().c_str());
  }

  const TempFolder folder;
  write_photos(folder.path("data.tfrecord"));
  const Dataset records = tfrecord(folder.path("data.tfrecord"));
  const Dataset photos =
      records.parse_example({fixed_len("image", DType::kString), fixed_len("label", DType::kInt64)})
          .decode_image({}, "image")
          .resize({.height = 24, .width = 24})
          .normalize({.mean = {0.5f, 0.5f, 0.5f}, .deviation = {0.3f, 0.3f, 0.3f}})
          .shuffle(1024)
          .batch(32);
  std::printf("%ld records with random access: %s\n", long(records.cardinality()),
              photos.has_random_access() ? "yes" : "no");

  Pipeline pipeline = photos.with_options({.threads = 0}).start();
  const Batch batch = *pipeline.next();
  std::printf("first batch: image %s %s, label %s %s\n", name_of(batch["image"].dtype()).data(),
              batch["image"].shape().str().c_str(), name_of(batch["label"].dtype()).data(),
              batch["label"].shape().str().c_str());
  const long held = pipeline.stats().ram_used_bytes;
  std::printf("decoded images held for shuffling: %ld bytes\n", held);

  Model model = Sequential({Flatten(), Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = Adam(0.001), .loss = BinaryCrossentropy(), .metrics = {Accuracy()}});
  const History history = model.fit(photos, {.epochs = 5, .threads = {.intra_op = 1}});
  const bool learned = history.epochs.back()["accuracy"] > 0.95;
  std::printf("accuracy above 0.95 after 5 epochs: %s\n", learned ? "yes" : "no");
  return photos.has_random_access() && held == 0 && learned ? 0 : 1;
}
