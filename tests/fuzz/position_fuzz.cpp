// Any numbers as the position of a pipeline: elements of the data, or an Error. The first byte
// chooses the pipeline; two bytes each make a number, small, negative or huge.
#include <cstdint>
#include <limits>
#include <vector>

#include "headway/core/json.h"
#include "headway/data/dataset.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::require;

namespace {

const std::vector<Dataset>& pipelines() {
  static const auto keep = [](int64_t) { return true; };
  static const Dataset slices = from_tensor_slices(Tensor::vector<int64_t>({1, 2, 3, 4, 5}));
  static const std::vector<Dataset> all = [] {
    std::vector<Dataset> made = {
        slices,
        slices.shuffle().batch(2),
        slices.filter(keep).batch(2),
        slices.filter(keep).shuffle(3),
        slices.batch(2).unbatch().take(3),
        slices.filter(keep).repeat(2).skip(1),
        slices.filter(keep).concatenate(slices).batch(3),
        slices.cache(),
        slices.filter(keep).cache(),
        range(3).interleave([](const Element&) { return slices; }, {.cycle_length = 2}),
        range(3).flat_map([](const Element&) { return slices; }),
    };
    for (Dataset& dataset : made) dataset = dataset.with_options({.threads = 0});
    return made;
  }();
  return all;
}

int64_t number(const uint8_t* two) {
  switch (two[0] % 8) {
    case 0: return -int64_t{two[1]};
    case 1: return std::numeric_limits<int64_t>::max() - two[1];
    case 2: return std::numeric_limits<int64_t>::min() + two[1];
    default: return two[1];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 129) return 0;
  const Dataset& dataset = pipelines()[data[0] % pipelines().size()];
  nlohmann::json position = parse_json(dataset.start().save().text);
  std::vector<int64_t> words;
  for (size_t i = 1; i + 1 < size; i += 2) words.push_back(number(data + i));
  position["cursor"] = words;
  try {
    Pipeline pipeline = dataset.start({.state = PipelineState{position.dump()}});
    for (int i = 0; i < 20; ++i) {
      const auto element = pipeline.next();
      if (!element) break;
      for (const int64_t value : element->only().values<int64_t>())
        require(value >= 1 && value <= 5);
      pipeline.save();
    }
  } catch (const Error& e) {
    require(!e.problem().empty());
  }
  return 0;
}
