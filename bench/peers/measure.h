#pragma once

// How every C++ peer is timed: measure.py's way, so that peers differ only in what they run.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace peers {

constexpr float kMean[3] = {0.485f, 0.456f, 0.406f};
constexpr float kDeviation[3] = {0.229f, 0.224f, 0.225f};
constexpr int64_t kScalars = 1'000'000;
constexpr int kScalarsBatch = 32;

struct Arguments {
  std::string task, images;
  int threads = 2;
  double seconds = 5;
  bool version = false;
};

inline Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--version") return arguments.version = true, arguments;
    if (i + 1 == argc) throw std::runtime_error(name + " wants a value");
    const std::string value = argv[++i];
    if (name == "--task") arguments.task = value;
    else if (name == "--images") arguments.images = value;
    else if (name == "--threads") arguments.threads = std::stoi(value);
    else if (name == "--seconds") arguments.seconds = std::stod(value);
    else throw std::runtime_error("unknown option " + name);
  }
  return arguments;
}

inline int batch_of(const std::string& task) { return task == "t3" ? 16 : 64; }

inline std::vector<std::string> list_images(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::string kind = entry.path().extension().string();
    std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) { return std::tolower(c); });
    if (kind == ".jpg" || kind == ".jpeg" || kind == ".png") files.push_back(entry.path().string());
  }
  if (files.empty()) throw std::runtime_error("no images in " + folder);
  std::sort(files.begin(), files.end());
  return files;
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
         1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// A running pipeline: each call takes one batch. Destroying it stops it.
using Batches = std::function<void()>;

// Warms up with one pipeline, then times a second one from its making.
inline void measure_images(const char* name, const char* version, const Arguments& arguments,
                           const std::function<Batches()>& open) {
  {
    const Batches warm = open();
    for (const double until = now() + std::min(2.0, arguments.seconds); now() < until;) warm();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));

  double start = now();
  const Batches next = open();
  next();
  const double first_batch_ms = (now() - start) * 1e3;
  for (int i = 0; i < 8; ++i) next();  // past what was prefetched meanwhile

  start = now();
  const double cpu = cpu_seconds();
  int64_t count = 0;
  for (; now() < start + arguments.seconds; count += batch_of(arguments.task)) next();
  const double wall = now() - start;
  std::printf(
      "{\"name\": \"%s\", \"version\": \"%s\", \"task\": \"%s\", \"images_per_s\": %.1f, "
      "\"cpu_ms_per_image\": %.4f, \"first_batch_ms\": %.1f}\n",
      name, version, arguments.task.c_str(), count / wall, (cpu_seconds() - cpu) * 1e3 / count,
      first_batch_ms);
}

struct ScalarVariant {
  std::string name;
  std::function<int64_t()> epoch;  // runs one, gives the number of batches
};

// The best variant's nanoseconds per scalar, of two epochs each.
inline void measure_scalars(const char* name, const char* version,
                            const std::vector<ScalarVariant>& variants) {
  double best = 1e18;
  std::string chosen;
  for (int round = 0; round < 2; ++round) {
    for (const ScalarVariant& variant : variants) {
      const double start = now();
      if (variant.epoch() != kScalars / kScalarsBatch)
        throw std::runtime_error("batches are missing");
      const double ns = (now() - start) * 1e9 / kScalars;
      if (ns < best) best = ns, chosen = variant.name;
    }
  }
  std::printf(
      "{\"name\": \"%s\", \"version\": \"%s\", \"task\": \"scalars\", \"ns_per_element\": %.1f, "
      "\"variant\": \"%s\"}\n",
      name, version, best, chosen.c_str());
}

}  // namespace peers
