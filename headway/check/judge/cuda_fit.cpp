#include "headway/check/judge/cuda_fit.h"

#include <algorithm>
#include <cstdlib>

namespace headway {

std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> out;
  for (size_t at = 0; at < version.size() && version[at] >= '0' && version[at] <= '9';) {
    out.push_back(std::atoi(version.c_str() + at));
    at = version.find_first_not_of("0123456789", at);
    if (at == std::string::npos || version[at] != '.') break;
    ++at;
  }
  return out;
}

bool is_older(const std::string& version, const std::string& than) {
  const std::vector<int> a = numbers_of(version), b = numbers_of(than);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i]) return a[i] < b[i];
  return false;
}

DriverFit driver_fit(int driver, const std::string& built_for) {
  const std::vector<int> built = numbers_of(built_for);
  if (driver == 0 || built.empty()) return DriverFit::kUnknown;
  const int major = driver / 1000, minor = driver % 1000 / 10;
  if (built[0] != major) return built[0] < major ? DriverFit::kFits : DriverFit::kTooOld;
  const bool newer = built.size() > 1 && built[1] > minor;
  return newer ? DriverFit::kOlderMinor : DriverFit::kFits;
}

// Code for one GPU runs on those of the same major version that are not older.
KernelFit kernel_fit(const InstalledFramework& framework, int capability) {
  if (capability == 0 || (framework.kernels.empty() && framework.ptx == 0))
    return KernelFit::kUnknown;
  for (const int each : framework.kernels)
    if (each / 10 == capability / 10 && each <= capability) return KernelFit::kBuiltIn;
  if (framework.ptx > 0 && framework.ptx <= capability) return KernelFit::kTranslated;
  return KernelFit::kMissing;
}

}  // namespace headway
