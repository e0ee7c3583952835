// Writes tf.Examples to TFRecord files that TensorFlow can read, and reads them back shuffled.
// Prints:
//
//   1000 records, shuffled through their index
//   first batch: x float32 32x4, y int64 32, word string 32
//   the sum of y is 499500
//   record 700 alone: y 700, word seven hundred
#include <headway/headway.h>
#include <headway/io/records/tfrecord_writer.h>

#include <cstdio>
#include <filesystem>

using namespace headway;

void write_records(const std::string& folder) {
  for (int shard = 0; shard < 2; ++shard) {
    TFRecordWriter writer(folder + "/data-" + std::to_string(shard) + ".tfrecord", {.index = true});
    ExampleWriter example;
    for (int y = 500 * shard; y < 500 * (shard + 1); ++y) {
      const float x[4] = {float(y), float(y) / 2, 0, 1};
      example.float32("x", x).int64("y", y).bytes("word", y == 700 ? "seven hundred" : "another");
      writer.write(example.finish());
    }
    writer.close();
  }
}

int main() {
  char folder[] = "/tmp/headway-example-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  write_records(folder);

  const Dataset records =
      tfrecord(std::string(folder) + "/*.tfrecord")
          .parse_example({fixed_len("x", DType::kFloat32, {4}), fixed_len("y", DType::kInt64),
                          fixed_len("word", DType::kString)});
  const Dataset batches = records.shuffle().batch(32);
  std::printf("%ld records, shuffled through their index\n", long(records.cardinality()));

  int64_t sum = 0;
  bool first = true;
  for (const Batch& batch : batches) {
    if (first) {
      std::printf("first batch: x float32 %s, y int64 %s, word string %s\n",
                  batch["x"].shape().str().c_str(), batch["y"].shape().str().c_str(),
                  batch["word"].shape().str().c_str());
    }
    first = false;
    for (const int64_t y : batch["y"].values<int64_t>()) sum += y;
  }
  std::printf("the sum of y is %ld\n", long(sum));

  const Element one = records.at(700);
  const std::string word(one["word"].bytes());
  std::printf("record 700 alone: y %ld, word %s\n", long(one["y"].item<int64_t>()), word.c_str());
  std::filesystem::remove_all(folder);
  return sum == 499500 && word == "seven hundred" ? 0 : 1;
}
