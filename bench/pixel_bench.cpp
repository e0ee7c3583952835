// Time of the pixel kernels per image, and how far fast decoding is from exact.
//
//   pixel_bench FOLDER      JPEG and PNG files; prints CPU time per image (fastest of the rounds,
//   one
//                           thread) and, for JPEGs, PSNR of T1 and T2 in fast mode: min, 5%, median
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "headway/data/image_chain.h"
#include "headway/io/images/image_format.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"

using namespace headway;

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kRounds = 7;
constexpr double kWorstAllowed = 30;  // dB

double thread_cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e6 + double(now.tv_nsec) * 1e-3;
}

struct Files {
  std::vector<Bytes> jpeg, png;
};

Files read_folder(const std::string& folder) {
  Files files;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(in), {}};
    const ImageFormat format = format_of(bytes);
    if (format == ImageFormat::kJpeg) files.jpeg.push_back(std::move(bytes));
    else if (format == ImageFormat::kPng) files.png.push_back(std::move(bytes));
  }
  return files;
}

void measure(const char* name, const std::vector<Bytes>& files,
             const std::function<void(size_t)>& work) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double start_us = thread_cpu_us();
    for (size_t i = 0; i < files.size(); ++i) work(i);
    best = std::min(best, (thread_cpu_us() - start_us) / double(files.size()));
  }
  fmt::print("  {:<44}{:>10.1f} us\n", name, best);
}

std::vector<ImageStep> recipe(const std::string& task, DecodeMode mode) {
  const NormalizeStep normalize{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  if (task == "t1") {
    return {DecodeStep{.mode = mode}, ResizeShorterStep{.size = 256}, CenterCropStep{224, 224},
            normalize, LayoutStep{Layout::kCHW}};
  }
  if (task == "t2") {
    return {DecodeStep{.mode = mode}, RandomResizedCropStep{.height = 224, .width = 224},
            FlipStep{}, normalize, LayoutStep{Layout::kCHW}};
  }
  return {DecodeStep{}, ResizeStep{.height = 64, .width = 64}, NormalizeStep{},
          LayoutStep{Layout::kCHW}};
}

// Over a ring of results as large as two batches, so that they do not stay in cache.
class Target {
 public:
  float* next() { return &values_[size_t(slot_++ % kSlots) * kValues]; }

 private:
  static constexpr int kSlots = 128;
  static constexpr size_t kValues = 3 * 224 * 224;
  std::vector<float> values_ = std::vector<float>(kSlots * kValues);
  int slot_ = 0;
};

void time_chain(const std::string& task, DecodeMode mode, const std::vector<Bytes>& files) {
  const ImageChain chain(recipe(task, mode));
  ImageScratch scratch;
  Target target;
  const Origin nowhere;
  const auto place = [&](DType, const Shape&) -> void* { return target.next(); };
  const std::string name = task + (mode == DecodeMode::kFast ? " chain, fast" : " chain, exact");
  measure(name.c_str(), files, [&](size_t i) {
    chain.run_encoded(files[i], nowhere, Random(1, 0, i, 0), scratch, place);
  });
}

void time_resize(const std::vector<Bytes>& files) {
  ImageScratch scratch;
  std::vector<std::vector<uint8_t>> pixels(files.size());
  std::vector<ImageView> views(files.size());
  const Origin nowhere;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto place = [&](DType dtype, const Shape& s) -> void* {
      pixels[i].resize(size_t(s.count()));
      views[i] = packed(pixels[i].data(), dtype, int(s[0]), int(s[1]), int(s[2]));
      return pixels[i].data();
    };
    ImageChain({DecodeStep{}}).run_encoded(files[i], nowhere, Random(0, 0, 0, 0), scratch, place);
  }
  Target target;
  const auto place = [&](DType, const Shape&) -> void* { return target.next(); };
  for (Filter filter : {Filter::kNearest, Filter::kBilinear, Filter::kBicubic, Filter::kArea}) {
    for (bool antialias : {false, true}) {
      if (antialias && (filter == Filter::kNearest || filter == Filter::kArea)) continue;
      const ImageChain chain({ResizeShorterStep{256, filter, antialias}, CenterCropStep{224, 224},
                              NormalizeStep{}, LayoutStep{Layout::kCHW}});
      const std::string name =
          fmt::format("resize alone (T1's), {}{}", name_of(filter), antialias ? ", antialias" : "");
      measure(name.c_str(), files,
              [&](size_t i) { chain.run_pixels(views[i], Random(0, 0, 0, 0), scratch, place); });
    }
  }
}

void time_decode(const std::vector<Bytes>& files) {
  JpegDecoder decoder;
  const Origin nowhere;
  measure("jpeg header", files, [&](size_t i) { decoder.read_header(files[i], nowhere); });
  const auto decode = [&](const char* name, const JpegOptions& options) {
    measure(name, files, [&](size_t i) {
      decoder.open(files[i], nowhere);
      decoder.decode(options, [](const uint8_t*) {});
    });
  };
  decode("jpeg decode, exact", {.channels = 3});
  decode("jpeg decode, exact, libjpeg-turbo alone", {.channels = 3, .plain = true});
  decode("jpeg decode, fast", {.channels = 3, .mode = DecodeMode::kFast});
}

double psnr(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += double(a[i] - b[i]) * double(a[i] - b[i]);
  return squares == 0 ? 99 : 10 * std::log10(255.0 * 255.0 * double(a.size()) / squares);
}

// In gray levels of 255: the recipe without its normalisation.
bool print_psnr(const std::string& task, const std::vector<Bytes>& files) {
  const auto run = [&](DecodeMode mode, size_t i) {
    static ImageScratch scratch;
    auto steps = recipe(task, mode);
    std::erase_if(steps,
                  [](const ImageStep& s) { return std::holds_alternative<NormalizeStep>(s); });
    std::vector<float> values;
    const auto place = [&](DType, const Shape& s) -> void* {
      values.resize(size_t(s.count()));
      return values.data();
    };
    const Origin nowhere;
    ImageChain(steps).run_encoded(files[i], nowhere, Random(1, 0, i, 0), scratch, place);
    return values;
  };
  std::vector<double> all;
  for (size_t i = 0; i < files.size(); ++i) {
    all.push_back(psnr(run(DecodeMode::kFast, i), run(DecodeMode::kExact, i)));
  }
  std::sort(all.begin(), all.end());
  const auto equal = std::count(all.begin(), all.end(), 99.0);
  fmt::print(
      "  {} fast against exact, dB: min {:.1f}, 5% {:.1f}, median {:.1f}; {} of {} identical\n",
      task, all[0], all[all.size() / 20], all[all.size() / 2], equal, all.size());
  return all[0] >= kWorstAllowed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: pixel_bench FOLDER\n");
    return 2;
  }
  const Files files = read_folder(argv[1]);
  bool good = true;
  if (!files.jpeg.empty()) {
    fmt::print("{} JPEG files, per image\n", files.jpeg.size());
    time_decode(files.jpeg);
    time_resize(files.jpeg);
    for (const char* task : {"t1", "t2"}) {
      time_chain(task, DecodeMode::kExact, files.jpeg);
      time_chain(task, DecodeMode::kFast, files.jpeg);
    }
    for (const char* task : {"t1", "t2"}) good &= print_psnr(task, files.jpeg);
  }
  if (!files.png.empty()) {
    fmt::print("{} PNG files, per image\n", files.png.size());
    PngDecoder decoder;
    const Origin nowhere;
    measure("png decode", files.png, [&](size_t i) {
      decoder.open(files.png[i], nowhere);
      decoder.decode({.channels = 3});
    });
    time_chain("t3", DecodeMode::kExact, files.png);
  }
  if (!good) fmt::print("some image of fast mode is below {} dB\n", kWorstAllowed);
  return good ? 0 : 1;
}
