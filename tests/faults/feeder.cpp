// A training run without the training: takes batches, notes a digest of each, saves its position
// after each, and goes on from there when started again.
//
//   feeder FOLDER THREADS [limits]
//
// FOLDER holds `digests` (one line a batch) and `position`. With `limits` it prints the CPUs it
// believes to have and the workers it started, and ends.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "headway/core/limits.h"
#include "headway/headway.h"
#include "headway/io/bytes/crc32c.h"
#include "headway/io/bytes/output_file.h"

using namespace headway;

namespace {

// Shuffled, filtered, shuffled again as a stream, with noise: every kind of state there is.
Dataset dataset(int threads) {
  return range(1500)
      .shuffle()
      .random_map([](Element e, Random& random) {
        Tensor noise = Tensor::empty(DType::kFloat32, {64});
        for (float& x : noise.values<float>()) x = random.normal();
        e.set("noise", noise);
        return e;
      })
      .filter([](const Element& e) { return e["value"].item<int64_t>() % 5 != 0; })
      .shuffle({.buffer_size = 100, .minimum_fill = 20})
      .repeat(2)
      .batch(16)
      .with_options({.threads = threads});
}

uint32_t digest(const Batch& batch) {
  uint32_t crc = 0;
  for (const Field& f : batch.fields()) {
    crc = crc32c_extend(crc,
                        {static_cast<const char*>(f.value.data()), size_t(f.value.size_bytes())});
  }
  return crc;
}

std::string read_text(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void run(const std::string& folder, int threads) {
  StartOptions options;
  std::string digests;
  if (std::filesystem::exists(folder + "/position")) {
    const std::string saved = read_text(folder + "/position");
    const size_t split = saved.find('\n');
    const size_t length = std::stoull(saved.substr(0, split));
    options.state = PipelineState{saved.substr(split + 1)};
    digests = read_text(folder + "/digests").substr(0, length);  // what came after was not saved
  }
  Pipeline feed = dataset(threads).start(options);
  while (auto batch = feed.next()) {
    digests += fmt::format("{:08x}\n", digest(*batch));
    AtomicFile notes(folder + "/digests");
    notes.write(digests);
    notes.commit();
    AtomicFile position(folder + "/position");
    position.write(fmt::format("{}\n{}", digests.size(), feed.save().text));
    position.commit();
  }
  std::ofstream(folder + "/done") << "done";
}

void show_limits() {
  Pipeline feed = range(100).map([](int64_t x) { return x; }).batch(10).start();
  feed.next();
  fmt::print("{} {}\n", read_limits().cpus, feed.stats().threads);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) return show_limits(), 0;
  run(argv[1], std::stoi(argv[2]));
}
