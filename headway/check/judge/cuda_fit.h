#pragma once

#include <string>
#include <vector>

#include "headway/check/facts.h"

// Versions that must fit each other.
namespace headway {

// "9.1.0" -> {9, 1, 0}; what is no number ends it.
std::vector<int> numbers_of(const std::string& version);
inline int major_of(const std::string& version) {
  const std::vector<int> numbers = numbers_of(version);
  return numbers.empty() ? 0 : numbers[0];
}
// Is the first version older, as far as both say? "9" is not older than "9.1".
bool is_older(const std::string& version, const std::string& than);

enum class DriverFit : uint8_t {
  kUnknown,
  kFits,
  kOlderMinor,  // runs by CUDA's compatibility within a major version, without PTX
  kTooOld,
};
// `driver`: 12040 for CUDA 12.4.
DriverFit driver_fit(int driver, const std::string& built_for);

enum class KernelFit : uint8_t {
  kUnknown,
  kBuiltIn,
  kTranslated,  // from PTX, by the driver, when they are first used
  kMissing,
};
KernelFit kernel_fit(const InstalledFramework& framework, int capability);

}  // namespace headway
