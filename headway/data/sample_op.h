#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/core/element.h"
#include "headway/core/random.h"
#include "headway/trace/feed.h"

namespace headway {

class RamBudget;
struct BatchRow;  // batch_builder.h

// Which sample this is: the key of its randomness, and where it may be written.
struct SampleContext {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t ordinal = 0;            // position in the stream of its operator's input
  const BatchRow* row = nullptr;  // set for the last operator before a batch
  RamBudget* ram = nullptr;       // of the pipeline that runs; null outside of one
  // What is held of it for this sample; NeedsRoom asks for more. None: there is nobody to ask.
  std::optional<int64_t> granted_bytes{};

  Random random(uint32_t op) const { return Random(seed, epoch, ordinal, op); }
};

// The running half of an operator that works on each element alone, on many at once: map, filter,
// decode, parse. Immutable, called by many threads at once.
class SampleOp {
 public:
  virtual ~SampleOp() = default;
  virtual std::string name() const = 0;
  virtual OpFacts facts() const { return {.name = name()}; }
  // Changes the element in place; false drops it.
  virtual bool apply(Element& element, const SampleContext& context) const = 0;
};

// Inside a catch block: the exception at hand with the operator's name in front and, where the
// sample may be to blame, the file's. It stays, or becomes, a SampleError, which a policy may skip,
// only if it is about the data: SampleError, std::runtime_error, a system error of one file. All
// else ends the run: a ResourceError for memory, disk or descriptors, Error for what the program
// did wrong.
std::exception_ptr located(const std::string& op, const Element& sample);

using SampleOpPtr = std::shared_ptr<const SampleOp>;

}  // namespace headway
