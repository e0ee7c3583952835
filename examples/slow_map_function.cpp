// A function that waits, in a map. Here it runs for every element (in TensorFlow a Python function
// runs once, while tracing: that example is not slow at all). One call at a time holds training up,
// and the history says so; many at once hide the wait (seed example 001-3). Prints:
//
//   one at a time: called for each of 160 elements: yes; several at once: no
//   in parallel:   called for each of 160 elements: yes; several at once: yes
//   both trained the same model: yes
//   the history tells how long training waited for data: yes
#include <headway/train/train.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

using namespace headway;

struct Calls {
  std::atomic<int> count = 0, inside = 0;
  std::atomic<bool> together = false;

  bool print(const char* name) const {
    std::printf("%-14s called for each of 160 elements: %s; several at once: %s\n", name,
                count >= 160 ? "yes" : "no", together ? "yes" : "no");
    return count >= 160;
  }
};

Dataset with_wait(const Dataset& rows, Calls& calls, MapOptions options) {
  return rows.map(
      [&](Element e) {
        ++calls.count;
        if (++calls.inside > 1) calls.together = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        --calls.inside;
        return e;
      },
      options);
}

struct Trained {
  History history;
  Tensor weights;
};

Trained train(const Dataset& rows) {
  Model model =
      Sequential({Dense(100, {.activation = "relu"}), Dense(10, {.activation = "softmax"})},
                 {.device = "cpu"});
  model.compile({.optimizer = Adam(), .loss = SparseCategoricalCrossentropy()});
  History history = model.fit(rows.batch(32), {.threads = {.intra_op = 1, .input = 4}});
  std::fprintf(stderr, "%s", history.time_table().c_str());
  return {std::move(history), model.weight("dense_1.weight")};
}

int main() {
  Random random(1, 0, 0, 0);
  Tensor x = Tensor::empty(DType::kFloat32, {160, 100});
  Tensor y = Tensor::empty(DType::kInt64, {160});
  for (float& v : x.values<float>()) v = random.uniform();
  for (int64_t& v : y.values<int64_t>()) v = int64_t(random.below(10));
  const Dataset rows = from_tensor_slices({{"x", x}, {"y", y}});

  Calls serial, parallel;
  const Trained waiting = train(with_wait(rows, serial, {.num_parallel_calls = 1}));
  const Trained hidden = train(with_wait(rows, parallel, {}));
  const bool all = serial.print("one at a time:") && parallel.print("in parallel:");
  const bool same = waiting.weights.same(hidden.weights);
  std::printf("both trained the same model: %s\n", same ? "yes" : "no");
  const bool told = waiting.history.times[StepPhase::kWaitForData] > 0 &&
                    waiting.history.time_table().find("waiting for data") != std::string::npos;
  std::printf("the history tells how long training waited for data: %s\n", told ? "yes" : "no");
  return all && !serial.together && parallel.together && same && told ? 0 : 1;
}
