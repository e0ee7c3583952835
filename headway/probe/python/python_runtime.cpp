#include "headway/probe/python/python_runtime.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstring>
#include <fstream>
#include <set>

#include "headway/probe/process/elf_symbols.h"
#include "headway/probe/process/memory_reader.h"

namespace headway {
namespace {

struct Mapping {
  uint64_t start = 0, offset = 0, inode = 0;
  std::string path{};
};

constexpr int kMostLookedInto = 3;             // files that may contain a Python
constexpr size_t kMostFiles = 64;              // of a process; these are remembered
constexpr size_t kMostMappings = 100000;       // lines; a process may have any number
constexpr uint64_t kLargestFile = 8ull << 30;  // only its tables are read

bool may_hold_python(const std::string& path, bool program) {
  const size_t name = path.rfind('/') + 1;
  return program || path.compare(name, 9, "libpython") == 0;
}

// "7f.. r-xp 00001000 08:01 123   /usr/bin/python3.11": the first usable mapping of each file, the
// program first.
std::vector<Mapping> first_mappings(pid_t pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::vector<Mapping> out;
  std::set<std::string> seen;
  size_t lines = 0;
  for (std::string line; lines < kMostMappings && std::getline(maps, line); ++lines) {
    const size_t path_at = line.find('/');
    if (path_at == std::string::npos || out.size() >= kMostFiles) continue;
    const std::string path = line.substr(path_at);
    if (!may_hold_python(path, out.empty()) && !version_in_path(path)) continue;
    unsigned long long start = 0, offset = 0, inode = 0;
    if (std::sscanf(line.c_str(), "%llx-%*x %*s %llx %*s %llu", &start, &offset, &inode) != 3)
      continue;
    if (seen.insert(path).second) out.push_back({start, offset, inode, path});
  }
  return out;
}

// In a container the path is the container's; after chroot it is ours.
std::optional<TargetFile> open_mapping(pid_t pid, const FileUser& user, const Mapping& mapping) {
  constexpr auto kAny = TargetFile::Owner::kAny;
  if (auto theirs = TargetFile::open(pid, user, mapping.path, kAny, kLargestFile)) return theirs;
  const auto ourselves = file_user_of(::getpid());
  auto ours = ourselves ? TargetFile::open(::getpid(), *ourselves, mapping.path, kAny, kLargestFile)
                        : std::nullopt;
  if (!ours || ours->inode() != mapping.inode) return std::nullopt;
  return ours;
}

std::optional<PythonVersion> version_of(const MemoryReader& memory, const ElfSymbols& elf,
                                        uint64_t shift, uint64_t runtime,
                                        const std::vector<Mapping>& mappings) {
  char cookie[8] = {};
  if (memory.read(runtime, cookie, sizeof cookie) && std::memcmp(cookie, "xdebugpy", 8) == 0) {
    if (const auto hex = memory.value<uint64_t>(runtime + 8))
      return PythonVersion{int(*hex >> 24 & 0xff), int(*hex >> 16 & 0xff)};
  }
  if (const auto found = elf.symbols.find("Py_Version"); found != elf.symbols.end()) {
    if (const auto hex = memory.value<uint64_t>(found->second + shift))
      return PythonVersion{int(*hex >> 24 & 0xff), int(*hex >> 16 & 0xff)};
  }
  for (const Mapping& mapping : mappings)  // an older Python names its version in its paths
    if (const auto version = version_in_path(mapping.path)) return version;
  return std::nullopt;
}

}  // namespace

std::optional<PythonVersion> version_in_path(const std::string& path) {
  for (size_t at = path.find("python3."); at != std::string::npos;
       at = path.find("python3.", at + 1)) {
    const size_t digits = at + 8;
    size_t end = digits;
    while (end < path.size() && std::isdigit(static_cast<unsigned char>(path[end]))) ++end;
    if (end > digits && end - digits <= 2)
      return PythonVersion{3, std::stoi(path.substr(digits, end - digits))};
  }
  return std::nullopt;
}

std::optional<PythonRuntime> find_python(pid_t pid, std::string* problem) {
  const auto say = [&](std::string text) {
    if (problem) *problem = std::move(text);
    return std::nullopt;
  };
  const std::vector<Mapping> mappings = first_mappings(pid);
  const auto user = file_user_of(pid);
  if (mappings.empty() || !user)
    return say("the memory map of the process (/proc/PID/maps) cannot be read");
  const MemoryReader memory(pid);
  int looked_into = 0;
  for (const Mapping& mapping : mappings) {
    if (!may_hold_python(mapping.path, &mapping == &mappings[0])) continue;
    if (++looked_into > kMostLookedInto) break;
    auto file = open_mapping(pid, *user, mapping);
    const auto image = file ? ElfImage::open(std::move(*file)) : std::nullopt;
    if (!image) continue;
    const ElfSymbols elf = find_elf_symbols(*image, {"_PyRuntime", ".PyRuntime", "Py_Version"});
    const auto symbol = elf.symbols.find("_PyRuntime");
    const auto section = elf.sections.find(".PyRuntime");
    uint64_t address = 0;
    if (section != elf.sections.end()) address = section->second;
    if (symbol != elf.symbols.end()) address = symbol->second;
    if (address == 0) continue;
    const uint64_t shift = mapping.start - mapping.offset - elf.base;
    const uint64_t runtime = address + shift;
    if (!memory.value<uint64_t>(runtime))
      return say(
          "no permission to read the memory of the process (run headway as the same user, or as "
          "root)");
    const auto version = version_of(memory, elf, shift, runtime, mappings);
    if (!version)
      return say(
          "the process runs Python, but its version cannot be found: Headway reads CPython 3.8 to "
          "3.14");
    return PythonRuntime{*version, runtime, mapping.path};
  }
  return say("the process does not run Python");
}

}  // namespace headway
