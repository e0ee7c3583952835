// Chapter 5 of the guide: a file format of our own as a source, an operator of our own behind it.
#include <headway/headway.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

using namespace headway;

// The format: records of 16 readings (float), one behind the other, without a header.
constexpr int64_t kReadings = 16;
constexpr int64_t kRecordBytes = kReadings * int64_t(sizeof(float));

// A source with random access: record number -> element. Many threads call it at once, so each
// call opens the file for itself.
Dataset sensor_log(const std::string& path) {
  const auto name = std::make_shared<const std::string>(path);
  const auto count = int64_t(std::filesystem::file_size(path)) / kRecordBytes;
  return range(count).map(
      [name](int64_t number) {
        Element record;
        record.set_origin(name, number * kRecordBytes);  // errors name file and byte
        Tensor readings = Tensor::empty(DType::kFloat32, {kReadings});
        std::ifstream file(*name, std::ios::binary);
        file.seekg(number * kRecordBytes);
        if (!file.read(static_cast<char*>(readings.data()), kRecordBytes))
          throw SampleError(record.origin(), "the record is cut short", "copy the file again");
        record.set("readings", std::move(readings));
        return record;
      },
      {.name = "sensor_log"});
}

// A source that is a stream: nobody knows how long it is, and one element comes after the other.
Dataset growing_squares(int64_t limit) {
  return generator([limit] {
    return [limit, n = int64_t{0}]() mutable -> std::optional<Element> {
      if (n * n > limit) return std::nullopt;  // the end
      const int64_t square = n * n;
      ++n;
      return Element(Tensor::scalar(square));
    };
  });
}

// An operator: a dataset comes in, a dataset goes out. This one removes the mean of each record.
Dataset centered(const Dataset& records) {
  return records.map(
      [](Element record) {
        const auto values = record["readings"].values<float>();
        const float mean =
            std::accumulate(values.begin(), values.end(), 0.0f) / float(values.size());
        if (!std::isfinite(mean))
          throw SampleError(record.origin(), "a reading is not a finite number");
        for (float& value : values) value -= mean;
        return record;
      },
      {.name = "centered"});
}

// An operator with random numbers: the same for a sample whatever the number of threads.
Dataset noisy(const Dataset& records, float deviation) {
  return records.random_map(
      [deviation](Element record, Random& random) {
        for (float& value : record["readings"].values<float>())
          value += deviation * random.normal();
        return record;
      },
      {.name = "noisy"});
}

void write_log(const std::string& path, int64_t records, int64_t bad_at) {
  std::ofstream file(path, std::ios::binary);
  for (int64_t i = 0; i < records * kReadings; ++i) {
    const float value = i == bad_at * kReadings ? std::nanf("") : float(i % 7);
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

// The values of the first pass, added up. (A loop over a dataset would be its next pass.)
double sum(const Dataset& batches) {
  double total = 0;
  Pipeline pipeline = batches.start();
  while (const auto batch = pipeline.next()) {
    for (const float value : (*batch)["readings"].values<float>()) total += std::abs(value);
  }
  return total;
}

int64_t count(const Dataset& elements) {
  return elements.reduce(int64_t{0}, [](int64_t n, const Element&) { return n + 1; });
}

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: own_source FILE"), 2;
  write_log(argv[1], 1000, -1);
  const Dataset batches = noisy(centered(sensor_log(argv[1]).shuffle()), 0.1f).batch(64);
  std::puts(batches.describe().c_str());

  const double one = sum(batches.with_options({.threads = 1}));
  const double four = sum(batches.with_options({.threads = 4}));
  std::printf("the same values with 1 and with 4 threads: %s\n", one == four ? "yes" : "no");

  const int64_t squares = growing_squares(100).reduce(
      int64_t{0},
      [](int64_t so_far, const Element& e) { return so_far + e.only().item<int64_t>(); });
  std::printf("the sum of the squares up to 100: %d\n", int(squares));

  write_log(argv[1], 1000, 700);
  bool named = false;
  try {
    sum(centered(sensor_log(argv[1])).batch(64));
  } catch (const Error& error) {
    named = true;
    std::printf("%s\n", error.what());
  }
  const std::string list = std::string(argv[1]) + ".skipped";
  std::filesystem::remove(list);  // a log is continued, not begun anew
  const ErrorPolicy policy = ErrorPolicy::skip_up_to(10, list);
  sum(centered(sensor_log(argv[1])).batch(64).with_options({.errors = policy}));
  const int64_t skipped = count(skip_log(list));
  std::printf("skipped and listed: %d\n", int(skipped));
  return one == four && squares == 385 && named && skipped == 1 ? 0 : 1;
}
