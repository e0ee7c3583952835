// What one libjpeg makes of JPEG files in every mode of ours; matrix.sh compares several.
//
//   every_mode draw FOLDER      writes files of every kind our encoder knows
//   every_mode pixels FOLDER    a line per file and mode with a CRC of the pixels; status 1 when
//                               our reader of codes gives others than libjpeg's own
//   every_mode time FOLDER      CPU time per file in us, fastest of some rounds, with our reader of
//                               codes and with libjpeg's own
//   every_mode reader           the reader of codes that stands in this process: ours or libjpeg's
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "headway/core/error.h"
#include "headway/core/random.h"
#include "headway/io/bytes/crc32c.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/jpeg_layout.h"

using namespace headway;

namespace {

using Bytes = std::vector<uint8_t>;
namespace fs = std::filesystem;

constexpr int kTimedSide = 512;
constexpr int kRounds = 5;

// Noise over a slope: every kind of code is used.
Bytes drawn(const JpegEncoding& encoding, int height, int width, int channels, uint64_t seed) {
  Random random(seed, 0, 0, 0);
  Bytes pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c)
        pixels.push_back(uint8_t((x + 2 * y + 31 * c) % 200 + int(random.below(40))));
    }
  }
  return encode_jpeg(pixels.data(), height, width, channels, int64_t{width} * channels, encoding);
}

void keep(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

void draw(const fs::path& folder) {
  constexpr std::pair<int, int> kSubsampling[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
  uint64_t seed = 0;
  for (const auto& [horizontal, vertical] : kSubsampling) {
    for (const int quality : {30, 75, 100}) {
      for (const int channels : {1, 3}) {
        for (const int kind : {0, 1, 2}) {
          const JpegEncoding encoding{.quality = quality,
                                      .progressive = kind == 2,
                                      .horizontal = horizontal,
                                      .vertical = vertical,
                                      .restart_interval = kind == 1 ? 7 : 0};
          keep(folder / fmt::format("small_{:03}.jpg", ++seed),
               drawn(encoding, 61, 83, channels, seed));
        }
      }
    }
  }
  for (int i = 0; i < 8; ++i)
    keep(folder / fmt::format("timed_{}.jpg", i),
         drawn({.quality = 90}, kTimedSide, kTimedSide, 3, ++seed));
}

Bytes read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes{std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_in(const fs::path& folder, const std::string& start) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(start) && entry.path().extension() == ".jpg")
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string outcome(JpegDecoder& decoder, const Bytes& file, const JpegOptions& options) {
  const Origin origin;
  uint32_t crc = 0;
  try {
    const JpegHeader header = decoder.open(file, origin);
    const int channels = std::min(header.channels, 3);
    const int scale = options.scale_denominator;
    const int width = options.window ? options.window->width : (header.width + scale - 1) / scale;
    decoder.decode(options, [&](const uint8_t* row) {
      const auto* const bytes = reinterpret_cast<const char*>(row);
      crc = crc32c_extend(crc, {bytes, size_t(width) * size_t(channels)});
    });
  } catch (const SampleError&) {
    return "refused";
  }
  return fmt::format("{:08x}", crc);
}

struct Mode {
  std::string name;
  JpegOptions options;
};

std::vector<Mode> every_mode() {
  std::vector<Mode> modes;
  for (const auto mode : {DecodeMode::kExact, DecodeMode::kFast}) {
    const std::string name = mode == DecodeMode::kFast ? "fast" : "exact";
    for (const int scale : {1, 2, 4, 8})
      modes.push_back(
          {fmt::format("{} 1/{}", name, scale), {.mode = mode, .scale_denominator = scale}});
    modes.push_back(
        {name + " window", {.mode = mode, .window = JpegOptions::Window{40, 17, 30, 25}}});
  }
  return modes;
}

bool print_pixels(const fs::path& folder) {
  JpegDecoder decoder;
  bool same = true;
  for (const fs::path& path : files_in(folder, "")) {
    const Bytes file = read(path);
    for (Mode mode : every_mode()) {
      const std::string ours = outcome(decoder, file, mode.options);
      mode.options.plain = true;
      const std::string own = outcome(decoder, file, mode.options);
      fmt::print("{} {} {}\n", fs::relative(path, folder).string(), mode.name, ours);
      if (ours == own) continue;
      same = false;
      fmt::print(stderr, "{} {}: {} with our reader, {} with libjpeg's\n", path.string(), mode.name,
                 ours, own);
    }
  }
  return same;
}

double thread_cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e6 + double(now.tv_nsec) * 1e-3;
}

double time_per_file_us(const std::vector<Bytes>& files, bool plain) {
  JpegDecoder decoder;
  const Origin origin;
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double start_us = thread_cpu_us();
    for (const Bytes& file : files) {
      decoder.open(file, origin);
      decoder.decode({.plain = plain}, [](const uint8_t*) {});
    }
    best = std::min(best, (thread_cpu_us() - start_us) / double(files.size()));
  }
  return best;
}

void print_times(const fs::path& folder) {
  std::vector<Bytes> files;
  for (const fs::path& path : files_in(folder, "timed_")) files.push_back(read(path));
  if (files.empty()) throw Error("no timed_*.jpg in " + folder.string(), "draw them first");
  fmt::print("{:.1f} {:.1f}\n", time_per_file_us(files, false), time_per_file_us(files, true));
}

int run(const std::string& what, const fs::path& folder) {
  if (what == "draw") draw(folder);
  else if (what == "pixels") return print_pixels(folder) ? 0 : 1;
  else if (what == "time") print_times(folder);
  else if (what == "reader") fmt::print("{}\n", sequential_methods() ? "ours" : "libjpeg's");
  else return 2;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    const int status = run(what, argc > 2 ? argv[2] : "");
    if (status == 2)
      fmt::print(stderr, "usage: every_mode draw|pixels|time FOLDER, or every_mode reader\n");
    return status;
  } catch (const std::exception& error) {
    fmt::print(stderr, "every_mode: {}\n", error.what());
    return 1;
  }
}
