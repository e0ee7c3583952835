// What a shuffle costs before the first batch: with the whole file list, an indexed TFRecord, and a
// list of ten million files, beside the same batch without a shuffle.
//
//   shuffle_bench --images DIR [--threads 2] [--files 10000000] [--json]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "headway/core/clock.h"
#include "headway/data/sources/sources.h"
#include "headway/headway.h"
#include "headway/io/bytes/file.h"
#include "headway/io/bytes/glob.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/tfrecord_writer.h"

using namespace headway;

namespace {

Dataset photos(const Dataset& source, int threads) {
  return source.decode_image()
      .resize_shorter({.size = 256})
      .center_crop({.height = 224, .width = 224})
      .normalize(kImageNet)
      .layout(Layout::kCHW)
      .batch(64)
      .with_options({.threads = threads});
}

double first_batch_ms(const Dataset& dataset, int epoch) {
  const int64_t start = now_ns();
  dataset.start({.epoch = epoch}).next();
  return double(now_ns() - start) * 1e-6;
}

double median_first_ms(const Dataset& dataset) {
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) times.push_back(first_batch_ms(dataset, i));
  std::sort(times.begin(), times.end());
  return times[4];
}

int64_t resident_bytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time to the first batch with and without a shuffle.");
  std::string images;
  int threads = 2;
  int64_t count = 10'000'000;
  bool json = false;
  app.add_option("--images", images, "a folder of JPEGs")->required();
  app.add_option("--threads", threads, "workers");
  app.add_option("--files", count, "length of the long list");
  app.add_flag("--json", json, "one JSON object");
  CLI11_PARSE(app, argc, argv);

  const PathList paths = list_files(images + "/**/*.{jpg,jpeg,JPG,JPEG}");
  const TempFolder folder;
  TFRecordWriter writer(folder.path("images.tfrecord"), {.index = true});
  Buffer bytes;
  ExampleWriter example;
  for (size_t i = 0; i < paths.size(); ++i) {
    read_all(paths.path(i), bytes);
    writer.write(example.bytes("image", bytes.view()).finish());
  }
  writer.close();

  const Dataset listed = files(images + "/**/*.{jpg,jpeg,JPG,JPEG}");
  const Dataset records =
      tfrecord(folder.path("images.tfrecord")).parse_example({fixed_len("image", DType::kString)});
  nlohmann::json out = {
      {"files_ms", median_first_ms(photos(listed, threads))},
      {"files_shuffled_ms", median_first_ms(photos(listed.shuffle(), threads))},
      {"tfrecord_ms", median_first_ms(photos(records, threads))},
      {"tfrecord_shuffled_ms", median_first_ms(photos(records.shuffle(), threads))}};

  const int64_t before = resident_bytes(), start = now_ns();
  auto many = std::make_shared<PathList>();
  for (int64_t i = 0; i < count; ++i) {
    const size_t k =
        size_t(i) * paths.size() / size_t(count);  // folder after folder, as a listing is
    many->append(paths.folder(k), paths.name(k));
  }
  const double listing_s = double(now_ns() - start) * 1e-9;
  const Dataset long_list = photos(Dataset(make_files(many, "a long list")).shuffle(), threads);
  out["many"] = {{"files", count},
                 {"listing_s", listing_s},
                 {"list_bytes", many->memory_bytes()},
                 {"first_batch_ms", median_first_ms(long_list)},
                 {"resident_growth_bytes", resident_bytes() - before}};
  if (json) {
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print(
      "first batch of 64, ms\n  files               {:8.1f}\n  files shuffled      {:8.1f}\n"
      "  TFRecord            {:8.1f}\n  TFRecord shuffled   {:8.1f}\n",
      out["files_ms"].get<double>(), out["files_shuffled_ms"].get<double>(),
      out["tfrecord_ms"].get<double>(), out["tfrecord_shuffled_ms"].get<double>());
  fmt::print(
      "{} files: list built in {:.2f} s, {} MB; first shuffled batch {:.1f} ms; process grew by {} "
      "MB\n",
      count, listing_s, many->memory_bytes() >> 20, out["many"]["first_batch_ms"].get<double>(),
      (resident_bytes() - before) >> 20);
}
