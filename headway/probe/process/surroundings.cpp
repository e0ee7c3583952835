#include "headway/probe/process/surroundings.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "headway/probe/process/proc_files.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kMostNamed = 5, kMostLooked = 200, kMostMappings = 100000;

const char* network_name(long type) {
  switch (static_cast<unsigned long>(type)) {
    case 0x6969: return "nfs";
    case 0x65735546: return "fuse";
    case 0xFF534D42:
    case 0xFE534D42: return "smb";
    case 0x0BD00BD0: return "lustre";
    case 0x01021997: return "9p";
    case 0x00C36400: return "ceph";
    default: return nullptr;
  }
}

// "Max open files            1024                 524288               files"
int64_t most_open_files(pid_t pid) {
  const std::string limits = file_text(fmt::format("/proc/{}/limits", pid));
  constexpr std::string_view kName = "Max open files";
  const size_t at = limits.find(kName);
  return at == std::string::npos ? 0
                                 : std::strtoll(limits.c_str() + at + kName.size(), nullptr, 10);
}

void look_at_files(pid_t pid, Surroundings& out) {
  size_t looked = 0;
  const std::vector<pid_t> open = numbers_in(fmt::format("/proc/{}/fd", pid));
  out.open_files = static_cast<int64_t>(open.size());
  out.open_files_limit = most_open_files(pid);
  for (const pid_t fd : open) {
    if (++looked > kMostLooked || out.network_files.size() >= kMostNamed) return;
    const std::string link = fmt::format("/proc/{}/fd/{}", pid, fd);
    char target[PATH_MAX];
    const ssize_t got = ::readlink(link.c_str(), target, sizeof target);
    if (got <= 0 || target[0] != '/') continue;
    const std::string path(target, static_cast<size_t>(got));
    if (path.starts_with("/dev/nvidia") && path[11] >= '0' && path[11] <= '9') out.gpu_open = true;
    if (path.starts_with("/dev/") || path.starts_with("/proc/")) continue;
    struct statfs where;
    if (::statfs(link.c_str(), &where) != 0) continue;
    if (const char* name = network_name(where.f_type))
      out.network_files.push_back(fmt::format("{} ({})", redact_path(path), name));
  }
}

// "7f10-7f20 r-xp 00000000 00:00 0": code in memory without a file, or made by torch.compile.
bool is_compiled(const std::string& mapping) {
  const size_t rights = mapping.find(' ') + 1;
  if (rights == 0 || rights + 2 >= mapping.size() || mapping[rights + 2] != 'x') return false;
  return mapping.find_first_of("/[") == std::string::npos ||
         mapping.find("/torchinductor_") != std::string::npos;
}

void look_at_libraries(pid_t pid, Surroundings& out) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::set<std::string> seen;
  bool plain = false, faster = false;
  size_t lines = 0;
  for (std::string line; lines < kMostMappings && std::getline(maps, line); ++lines) {
    out.compiled += is_compiled(line);
    const size_t slash = line.rfind('/');
    if (slash == std::string::npos || line.find(".so") == std::string::npos) continue;
    const std::string name = line.substr(slash + 1);
    if (!name.starts_with("lib") && !name.starts_with("_pywrap") &&
        !name.starts_with("xla_extension") && !name.starts_with("_jax"))
      continue;
    if (!seen.insert(name).second) continue;
    plain |= name.starts_with("libblas.so") && line.find("/blas/libblas.so") != std::string::npos;
    for (const char* other : {"libopenblas", "libmkl_", "libblis", "libatlas", "libsatlas",
                              "libtatlas", "libAccelerate"})
      faster |= name.starts_with(other);
    // Distributions replace the plain library by another one, in a folder of its own.
    faster |= name.starts_with("libblas.so") && line.find("/blas/libblas.so") == std::string::npos;
    if (name.starts_with("libtorch_cpu")) out.framework = Framework::kTorch;
    if (name.starts_with("libtensorflow") || name.starts_with("_pywrap_tensorflow"))
      out.framework = Framework::kTensorFlow;
    if (out.framework == Framework::kNone &&
        (name.starts_with("xla_extension") || name.starts_with("_jax")))
      out.framework = Framework::kJax;
    if (name.starts_with("libcuda.so")) out.cuda_loaded = true;
    if (name.starts_with("libcudart") || name.starts_with("libcudnn.so") ||
        name.starts_with("libcublas.so"))
      out.cuda_libraries.push_back(name);
  }
  out.reference_blas = plain && !faster;
}

}  // namespace

Surroundings look_around(pid_t pid) {
  Surroundings out;
  look_at_files(pid, out);
  look_at_libraries(pid, out);
  struct statvfs shm;
  if (::statvfs(fmt::format("/proc/{}/{}/dev/shm", pid, "root").c_str(), &shm) == 0) {
    out.shm_bytes = static_cast<int64_t>(shm.f_blocks * shm.f_frsize);
    out.shm_free_bytes = static_cast<int64_t>(shm.f_bavail * shm.f_frsize);
  }
  return out;
}

}  // namespace headway
