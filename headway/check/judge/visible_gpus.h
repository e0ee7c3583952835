#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/check/facts.h"

namespace headway {

// What CUDA_VISIBLE_DEVICES leaves of the GPUs. CUDA reads the list from the left and ends it,
// without a word, at the first entry that names no GPU.
struct VisibleGpus {
  std::vector<size_t> shown{};
  std::string bad_entry{};  // the one that ends the list; empty: none
  std::string why{};        // "there is no GPU 7"
  bool divided = false;     // it names MIG instances, of which nothing is known here
};
VisibleGpus visible_gpus(const std::optional<std::string>& setting,
                         const std::vector<InstalledGpu>& gpus);
inline VisibleGpus visible_gpus(const GpuFacts& facts) {
  return visible_gpus(facts.visible, facts.gpus);
}

}  // namespace headway
