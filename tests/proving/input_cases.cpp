// The feed is the trouble.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "headway/core/error.h"
#include "tests/proving/ground.h"

namespace headway::ground {
namespace {

MapOptions one_by_one(const Setup& s, const char* name) {
  return {.num_parallel_calls = s.cured ? std::nullopt : std::optional<int64_t>(1), .name = name};
}

void serial_compute(Setup& s) {
  const double cost = 1e-3 * s.level;
  const auto work = [cost](Element e) {
    compute_for(cost);
    return e;
  };
  dense_model(64).fit(rows(s, 256, 64).map(work, one_by_one(s, "augment")).batch(16),
                      for_a_while(s));
}

void serial_sleep(Setup& s) {
  const double cost = 8e-3 * s.level;
  const auto work = [cost](Element e) {
    sleep_for(cost);
    return e;
  };
  dense_model(2048, 4).fit(rows(s, 256, 64).map(work, one_by_one(s, "fetch")).batch(16),
                           for_a_while(s));
}

// The work belongs in a map behind the generator.
void serial_generator(Setup& s) {
  const double cost = 1e-3 * s.level;
  const bool cured = s.cured;
  Dataset data = generator([=] {
    return [=, n = uint64_t{0}]() mutable -> std::optional<Element> {
      if (!cured) compute_for(cost);
      return row(n++, 64);
    };
  });
  if (cured) {
    data = data.map([cost](Element e) {
      compute_for(cost);
      return e;
    });
  }
  dense_model(64).fit(data.batch(16), for_a_while(s));
}

// Every worker waits for the same lock.
void locked_function(Setup& s) {
  const auto mu = std::make_shared<std::mutex>();
  const double cost = 2e-3 * s.level;
  const bool cured = s.cured;
  const auto work = [=](Element e) {
    std::unique_lock lock(*mu, std::defer_lock);
    if (!cured) lock.lock();
    sleep_for(cost);
    return e;
  };
  dense_model(1024, 3).fit(rows(s, 256, 64).map(work, {.name = "lookup"}).batch(16),
                           for_a_while(s));
}

// Work in two operators that fill every core.
void saturated_map(Setup& s) {
  const double cost = 3e-3 * s.level;
  const auto work = [cost](Element e) {
    compute_for(cost);
    return e;
  };
  dense_model(32).fit(rows(s, 256, 64).map(work, {.name = "tokenize"}).batch(16), for_a_while(s));
}

Model image_model(int64_t side, int64_t filters = 4, int64_t strides = 4, int64_t depth = 1) {
  std::vector<Layer> layers{Input({side, side, 3}), Rescaling(1.0 / 255)};
  for (int64_t i = 0; i < depth; ++i)
    layers.push_back(Conv2D(filters, 3, {.strides = strides, .activation = "relu"}));
  layers.push_back(GlobalAveragePooling2D());
  layers.push_back(Dense(10, {.activation = "softmax"}));
  Model model(layers, {.device = "cpu"});
  model.compile({.optimizer = Adam(1e-3), .loss = SparseCategoricalCrossentropy()});
  return model;
}

void saturated_decode(Setup& s) {
  const int64_t side = static_cast<int64_t>(800 * s.level);
  const std::string folder = drawn_images(s, 200, s.cured ? 64 : side, "jpeg");
  image_model(64, 32, 1).fit(image_folder(folder)
                                 .shuffle()
                                 .decode_image()
                                 .resize({.height = 64, .width = 64})
                                 .repeat()
                                 .batch(16),
                             for_a_while(s));
}

Dataset labelled_records(const std::string& folder) {
  return tfrecord(folder + "/*.tfrecord")
      .parse_example({fixed_len("image/encoded", DType::kString),
                      fixed_len("image/class/label", DType::kInt64)})
      .map([](Element e) {
        e.rename("image/encoded", "encoded");
        e.rename("image/class/label", "label");
        return e;
      });
}

// Thousands of files of a few bytes; the disk answers each open late. In shards there is little to
// open.
void small_files(Setup& s) {
  const std::string folder = drawn_images(s, 12'000, 12, "png");
  const Dataset images =
      s.cured ? labelled_records(packed(folder)).shuffle().decode_image({}, "encoded")
              : image_folder(folder).shuffle().decode_image();
  image_model(12, 128, 1, 2).fit(images.repeat().batch(32), for_a_while(s));
}

void slow_records(Setup& s) {
  const std::string folder = drawn_images(s, 2000, 500, "tfrecord", s.cured ? "local" : "images");
  const Dataset data = tfrecord(folder + "/*.tfrecord").map([](const Element& e) {
    return row(e["value"].values<std::string_view>()[0].size(), 64);
  });
  dense_model(2048, 4).fit(data.repeat().batch(16), for_a_while(s));
}

void shuffle_fill(Setup& s) {
  const Dataset data = generator([] {
    return [n = uint64_t{0}]() mutable -> std::optional<Element> {
      compute_for(1e-3);
      return row(n++, 64);
    };
  });
  const auto size = static_cast<int64_t>(60'000 * s.level);
  dense_model(64).fit(data.shuffle({.buffer_size = size, .minimum_fill = size}).batch(16),
                      for_a_while(s));
}

void mute_source(Setup& s) {
  const Dataset data = generator([] {
    return []() -> std::optional<Element> {
      for (;;) compute_for(0.01);
    };
  });
  dense_model(8).fit(data.batch(8), steps(s, 10));
}

// Every file is missing, and nobody is told.
void swallowed_errors(Setup& s) {
  const std::string folder = s.folder;
  const Dataset data = generator([folder] {
    return [folder, n = 0]() mutable -> std::optional<Element> {
      for (;;) {
        std::ifstream in(fmt::format("{}/image_{}.png", folder, n = (n + 1) % 3500));
        if (in) return row(0, 64);
      }
    };
  });
  dense_model(8).fit(data.batch(8), steps(s, 10));
}

void filter_drops_all(Setup& s) {
  const Dataset data =
      rows(s, 256, 64).filter([](const Element& e) { return e["y"].item<int64_t>() > 7; });
  dense_model(8).fit(data.batch(8), steps(s, 10));
}

void deadlock(Setup& s) {
  static std::mutex held;
  held.lock();
  const auto count = std::make_shared<std::atomic<int>>(0);
  const auto work = [count](Element e) {
    if (++*count > 2000) held.lock();
    return e;
  };
  dense_model(1024, 3).fit(rows(s, 256, 64).map(work, {.name = "lookup"}).batch(16),
                           for_a_while(s));
}

}  // namespace

std::vector<Case> input_cases() {
  return {
      {"serial-compute", "serial-map", serial_compute, "", "", true, 0.001},
      {"serial-sleep", "serial-map", serial_sleep, "", "", true},
      {"serial-generator", "serial-map", serial_generator, "", "", true},
      {"locked-function", "input-bound", locked_function, "", "", true},
      {"saturated-map", "input-bound", saturated_map, "", "", false, 0.001},
      {"saturated-decode", "decode-saturated", saturated_decode, "", "", true},
      {"small-files", "many-small-files", small_files, "slow-disk", "", true},
      {"slow-records", "slow-storage", slow_records, "slow-disk", "", true},
      {"shuffle-fill", "shuffle-fill", shuffle_fill},
      {"mute-source", "source-never-yields", mute_source},
      {"swallowed-errors", "source-never-yields", swallowed_errors},
      {"filter-drops-all", "source-never-yields", filter_drops_all},
      {"deadlock", "worker-deadlock", deadlock},
  };
}

}  // namespace headway::ground
