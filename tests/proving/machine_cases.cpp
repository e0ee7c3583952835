// The machine, the loop around the steps, or the way it was set up is the trouble.
#include <chrono>
#include <thread>
#include <vector>

#include "headway/core/limits.h"
#include "tests/proving/ground.h"

namespace headway::ground {
namespace {

CallbackPtr each_batch(std::function<void()> work) {
  return LambdaCallback({.on_batch_end = [work](Training&, double) { work(); }});
}

// More threads than the quota has cores, all with work to do.
void quota(Setup& s) {
  const auto work = [](Element e) {
    compute_for(2e-3);
    return e;
  };
  dense_model(256).fit(rows(s, 256, 256).map(work, {.name = "augment"}).batch(32), for_a_while(s));
}

void too_many_threads(Setup& s) {
  FitOptions fit = for_a_while(s);
  fit.threads.intra_op = static_cast<int>(24 * s.level);
  dense_model(1024).fit(rows(s, 512, 1024).batch(256), fit);
}

void one_thread(Setup& s) {
  FitOptions fit = for_a_while(s);
  fit.threads.intra_op = 1;
  dense_model(1024).fit(rows(s, 512, 1024).batch(256), fit);
}

void leak(Setup& s) {
  std::vector<std::vector<char>> kept;
  const auto bytes = static_cast<size_t>(1.5e6 * s.level);
  FitOptions fit = for_a_while(s);
  fit.callbacks = {each_batch([&] { kept.emplace_back(bytes, 'x'); })};
  dense_model(512, 3).fit(rows(s, 256, 512).batch(256), fit);
}

// Most of what the group may have is taken once the run has what it needs.
void little_memory(Setup& s) {
  std::vector<std::vector<char>> held;
  int calls = 0;
  FitOptions fit = for_a_while(s);
  fit.callbacks = {each_batch([&] {
    if (++calls != 50) return;
    while (read_limits().memory_bytes > 30'000'000) held.emplace_back(2'000'000, 'x');
  })};
  dense_model(256, 3).fit(rows(s, 256, 256).batch(64), fit);
}

void tiny_batch(Setup& s) {
  dense_model(512, 3, Adam(1e-4))
      .fit(rows(s, 256, 512).batch(s.level >= 1 ? 1 : 8), for_a_while(s));
}

void slow_callback(Setup& s) {
  FitOptions fit = for_a_while(s);
  const double cost = 20e-3 * s.level;
  fit.callbacks = {each_batch([cost] { sleep_for(cost); })};
  if (s.cured) fit.callbacks.clear();
  dense_model(512).fit(rows(s, 256, 512).batch(128), fit);
}

void stuck_callback(Setup& s) {
  FitOptions fit = for_a_while(s);
  int calls = 0;
  fit.callbacks = {each_batch([&calls] {
    if (++calls > 40) sleep_for(3600);
  })};
  dense_model(256).fit(rows(s, 256, 256).batch(64), fit);
}

void full_disk(Setup& s) {
  FitOptions fit = for_a_while(s);
  fit.checkpoint = {.folder = s.folder + "/small", .every_steps = 10};
  dense_model(512, 3, Adam(1e-4)).fit(rows(s, 256, 512).batch(64), fit);
}

void long_validation(Setup& s) {
  FitOptions fit = steps(s, 40);
  fit.epochs = 1'000'000;
  fit.validation = rows(s, 256, 512).take(static_cast<int64_t>(60'000 * s.level)).batch(128);
  dense_model(512).fit(rows(s, 256, 512).batch(64), fit);
}

// An epoch of 30 steps, then one that goes on.
void endless_epoch(Setup& s) {
  FitOptions fit = s.fit;
  fit.epochs = 3;
  fit.should_stop = nullptr;  // it is to go on
  const auto calls = std::make_shared<int>(0);
  const Dataset data = generator([calls] {
    const bool endless = ++*calls > 1;
    return [endless, n = uint64_t{0}]() mutable -> std::optional<Element> {
      if (!endless && n >= 16 * 30) return std::nullopt;
      return row(n++, 64);
    };
  });
  dense_model(64).fit(data.batch(16), fit);
}

void too_large(Setup& s) {
  Model model(
      {Dense(1'000'000, {.activation = "relu"}), Dense(1'000'000, {.activation = "softmax"})},
      {.device = "cpu"});
  model.compile({.optimizer = Adam(), .loss = SparseCategoricalCrossentropy()});
  model.fit(rows(s, 64, 64).batch(16), steps(s, 10));
}

void too_few_batches(Setup& s) {
  FitOptions fit = steps(s, 100);
  fit.epochs = 3;
  dense_model(64).fit(rows(s, 256, 64).take(1600).batch(16), fit);
}

// Two at once.
void slow_callback_and_serial_map(Setup& s) {
  FitOptions fit = for_a_while(s);
  fit.callbacks = {each_batch([] { sleep_for(30e-3); })};
  const auto work = [](Element e) {
    compute_for(6e-3);
    return e;
  };
  dense_model(64).fit(
      rows(s, 256, 64).map(work, {.num_parallel_calls = 1, .name = "augment"}).batch(16), fit);
}

void leak_and_slow_callback(Setup& s) {
  std::vector<std::vector<char>> kept;
  FitOptions fit = for_a_while(s);
  fit.callbacks = {each_batch([&] {
    kept.emplace_back(2'000'000, 'x');
    sleep_for(30e-3);
  })};
  dense_model(256).fit(rows(s, 256, 256).batch(64), fit);
}

}  // namespace

std::vector<Case> machine_cases() {
  return {
      {"quota", "cpu-quota", quota, "cpu-quota"},
      {"too-many-threads", "thread-oversubscription", too_many_threads},
      {"one-thread", "single-core-affinity", one_thread},
      {"leak", "host-memory-leak", leak, "", "", false, 0.01},
      {"little-memory", "memory-limit", little_memory, "memory-limit"},
      {"tiny-batch", "batch-too-small", tiny_batch},
      {"slow-callback", "slow-callback", slow_callback, "", "", false, 0.001},
      {"stuck-callback", "slow-callback", stuck_callback},
      {"full-disk", "limits-or-disk-full", full_disk, "small-disk"},
      {"long-validation", "hidden-validation", long_validation, "", "", false, 0.1},
      {"endless-epoch", "epoch-never-ends", endless_epoch},
      {"too-large", "model-too-large", too_large},
      {"too-few-batches", "wrong-steps-per-epoch", too_few_batches},
      {"slow-callback-and-serial-map", "serial-map", slow_callback_and_serial_map, "",
       "slow-callback"},
      {"leak-and-slow-callback", "slow-callback", leak_and_slow_callback, "", "host-memory-leak"},
  };
}

}  // namespace headway::ground
