#include "bench/limit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "headway/core/random.h"
#include "headway/image/resize.h"
#include "headway/io/images/png.h"

namespace headway::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatches = 2;
constexpr std::array<float, 3> kMean{0.485f, 0.456f, 0.406f};
constexpr std::array<float, 3> kDeviation{0.229f, 0.224f, 0.225f};

int side_of(Task task) { return task == Task::kT3 ? 64 : 224; }

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

// Batch memory: large pages where the system grants them, all of it touched beforehand.
class BatchMemory {
 public:
  explicit BatchMemory(size_t size_bytes) : size_(size_bytes) {
    data_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw Error("limit: no memory for the batches");
    madvise(data_, size_, MADV_HUGEPAGE);
    std::memset(data_, 0, size_);
  }
  ~BatchMemory() { munmap(data_, size_); }
  BatchMemory(const BatchMemory&) = delete;

  float* data() const { return static_cast<float*>(data_); }

 private:
  void* data_;
  size_t size_;
};

// One thread's tools.
struct Worker {
  JpegDecoder jpeg;
  PngDecoder png;
  Resizer resizer;
  std::vector<uint8_t> buffer = std::vector<uint8_t>(1 << 20);

  std::span<const uint8_t> read(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw Error("limit: cannot open " + path);
    size_t size = 0;
    for (;;) {
      const ssize_t got = ::read(file, buffer.data() + size, buffer.size() - size);
      if (got < 0) throw Error("limit: cannot read " + path);
      size += size_t(got);
      if (size < buffer.size()) break;
      buffer.resize(2 * buffer.size());
    }
    close(file);
    return {buffer.data(), size};
  }
};

Output normalised(float* out) {
  Output output{.data = out, .dtype = DType::kFloat32, .layout = Layout::kCHW};
  for (int c = 0; c < 3; ++c) {
    output.scale[c] = 1.0f / (255.0f * kDeviation[c]);
    output.bias[c] = -kMean[c] / kDeviation[c];
  }
  return output;
}

// Decodes what `g` needs of the source region at (x, y), through the resizer, into `output`.
void decode_resize(Worker& w, DecodeMode mode, ResizeGeometry g, int x, int y,
                   const Output& output) {
  JpegOptions options{.channels = 3, .mode = mode};
  if (mode == DecodeMode::kFast) {
    // The pipeline's rule: at least twice the target's pixels must remain.
    int d = 1;
    while (d < 8 && g.source_width >= 4 * d * g.width && g.source_height >= 4 * d * g.height)
      d *= 2;
    if (d > 1) {
      const float unit = 1.0f / float(d);
      const int left = x / d, top = y / d;
      g.stretch = {float(x) * unit - float(left), float(y) * unit - float(top),
                   float(g.source_width) * unit, float(g.source_height) * unit};
      g.source_width = (x + g.source_width + d - 1) / d - left;
      g.source_height = (y + g.source_height + d - 1) / d - top;
      x = left;
      y = top;
    }
    options.scale_denominator = d;
  }
  const Rect need = source_of(g);
  options.window = {x + need.x, y + need.y, need.width, need.height};
  w.resizer.start(g, DType::kUInt8, 3, output);
  w.jpeg.decode(options, [&w](const uint8_t* row) { w.resizer.push(row); });
}

void make_t1(Worker& w, DecodeMode mode, std::span<const uint8_t> bytes, float* out) {
  const Origin nowhere;
  const JpegHeader header = w.jpeg.open(bytes, nowhere);
  const int64_t shorter = std::min(header.width, header.height);
  const int width = int(header.width * int64_t{256} / shorter);
  const int height = int(header.height * int64_t{256} / shorter);
  const ResizeGeometry g{.source_width = header.width,
                         .source_height = header.height,
                         .width = width,
                         .height = height,
                         .window = {(width - 224) / 2, (height - 224) / 2, 224, 224}};
  decode_resize(w, mode, g, 0, 0, normalised(out));
}

Rect draw_crop(Random& random, int width, int height) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = double(width) * height * random.uniform(0.08f, 1.0f);
    const double ratio = std::exp(random.uniform(std::log(0.75f), std::log(4.0f / 3)));
    const int w = int(std::lround(std::sqrt(area * ratio)));
    const int h = int(std::lround(std::sqrt(area / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    const int y = int(random.below(uint64_t(height - h + 1)));
    return {int(random.below(uint64_t(width - w + 1))), y, w, h};
  }
  const int side = std::min(width, height);
  return {(width - side) / 2, (height - side) / 2, side, side};
}

void make_t2(Worker& w, DecodeMode mode, std::span<const uint8_t> bytes, Random random,
             float* out) {
  const Origin nowhere;
  const JpegHeader header = w.jpeg.open(bytes, nowhere);
  const Rect crop = draw_crop(random, header.width, header.height);
  const ResizeGeometry g{.source_width = crop.width,
                         .source_height = crop.height,
                         .width = 224,
                         .height = 224,
                         .window = {0, 0, 224, 224},
                         .flip_lr = random.coin()};
  decode_resize(w, mode, g, crop.x, crop.y, normalised(out));
}

void make_t3(Worker& w, std::span<const uint8_t> bytes, float* out) {
  const Origin nowhere;
  const PngHeader header = w.png.open(bytes, nowhere);
  Output output{.data = out, .dtype = DType::kFloat32, .layout = Layout::kCHW};
  output.scale.fill(1.0f / 255);
  const ResizeGeometry g{.source_width = header.width,
                         .source_height = header.height,
                         .width = 64,
                         .height = 64,
                         .window = {0, 0, 64, 64}};
  const Rect need = source_of(g);
  w.resizer.start(g, DType::kUInt8, 3, output);
  int y = 0;
  w.png.decode({.channels = 3}, [&](const uint8_t* row) {
    if (y >= need.y && y < need.y + need.height) w.resizer.push(row + 3 * need.x);
    ++y;
  });
}

class Race {
 public:
  explicit Race(const LimitOptions& options)
      : options_(options),
        slot_values_(3 * int64_t{side_of(options.task)} * side_of(options.task)),
        slots_(kBatches * batch_of(options.task)),
        memory_(size_t(slots_ * slot_values_) * sizeof(float)) {}

  LimitResult run() {
    start_ = Clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    const double seconds = milliseconds_since(start_) / 1e3;
    const int64_t images = done_.load();
    return {.images_per_s = double(images) / seconds,
            .cpu_ms_per_image = cpu_ms_ / double(images),
            .first_batch_ms = first_batch_ms_,
            .images = images,
            .seconds = seconds};
  }

 private:
  bool finished(int64_t image) const {
    if (options_.passes > 0) return image >= options_.passes * int64_t(options_.paths.size());
    return milliseconds_since(start_) >= options_.seconds * 1e3;
  }

  void work() {
    const double cpu_before = thread_cpu_ms();
    try {
      Worker worker;
      for (;;) {
        const int64_t image = next_.fetch_add(1, std::memory_order_relaxed);
        if (finished(image)) break;
        make(worker, image);
        if (done_.fetch_add(1) + 1 == batch_of(options_.task))
          first_batch_ms_ = milliseconds_since(start_);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    cpu_ms_ += thread_cpu_ms() - cpu_before;
  }

  void make(Worker& worker, int64_t image) {
    float* out = memory_.data() + image % slots_ * slot_values_;
    const auto bytes = worker.read(options_.paths[size_t(image) % options_.paths.size()]);
    switch (options_.task) {
      case Task::kT1: return make_t1(worker, options_.mode, bytes, out);
      case Task::kT2:
        return make_t2(worker, options_.mode, bytes, Random(options_.seed, 0, uint64_t(image), 0),
                       out);
      case Task::kT3: return make_t3(worker, bytes, out);
    }
  }

  const LimitOptions& options_;
  const int64_t slot_values_;
  const int64_t slots_;
  BatchMemory memory_;
  Clock::time_point start_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> done_{0};
  double first_batch_ms_ = 0;
  std::mutex mutex_;
  double cpu_ms_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::string_view name_of(Task task) {
  return task == Task::kT1 ? "t1" : task == Task::kT2 ? "t2" : "t3";
}

int batch_of(Task task) { return task == Task::kT3 ? 16 : 64; }

LimitResult run_limit(const LimitOptions& options) {
  if (options.paths.empty()) throw Error("limit: no files");
  return Race(options).run();
}

}  // namespace headway::bench
