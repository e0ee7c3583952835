// Any text as the state of a training: what text_of could have written, or an Error.
#include <cstdint>

#include "headway/core/error.h"
#include "headway/train/loop/saved_training.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const SavedTraining saved = parse_saved_training({reinterpret_cast<const char*>(data), size});
    require(saved.threads.size() == 3 && saved.step >= 0);
    const std::string text = text_of(saved);
    require(text_of(parse_saved_training(text)) == text);
  } catch (const Error& e) {
    require(!e.problem().empty());
  }
  return 0;
}
