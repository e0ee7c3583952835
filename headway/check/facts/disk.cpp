#include "headway/check/facts/disk.h"

#include <fmt/format.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace headway {
namespace {

struct KnownFileSystem {
  unsigned long number;
  const char* name;
  bool network, in_memory;
};
constexpr KnownFileSystem kKnown[] = {
    {0xEF53, "ext4", false, false},         {0x58465342, "xfs", false, false},
    {0x9123683E, "btrfs", false, false},    {0x2FC12FC1, "zfs", false, false},
    {0xF2F52010, "f2fs", false, false},     {0x794C7630, "overlay", false, false},
    {0x01021994, "tmpfs", false, true},     {0x858458F6, "ramfs", false, true},
    {0x73717368, "squashfs", false, false}, {0x6969, "nfs", true, false},
    {0x65735546, "fuse", true, false},      {0xFF534D42, "smb", true, false},
    {0xFE534D42, "smb", true, false},       {0x0BD00BD0, "lustre", true, false},
    {0x01021997, "9p", true, false},        {0x00C36400, "ceph", true, false},
    {0x47504653, "gpfs", true, false},      {0x19830326, "beegfs", true, false},
    {0x013111A8, "ibrix", true, false},     {0x5346414F, "afs", true, false},
};

void name_file_system(unsigned long number, DiskFacts& out) {
  for (const KnownFileSystem& each : kKnown) {
    if (each.number != (number & 0xFFFFFFFF)) continue;
    out.file_system = each.name, out.network = each.network, out.in_memory = each.in_memory;
    return;
  }
  out.file_system = fmt::format("file system 0x{:x}", number & 0xFFFFFFFF);
}

}  // namespace

DiskFacts read_disk(const std::string& path) {
  DiskFacts out{.path = path};
  struct statfs where;
  if (::statfs(path.c_str(), &where) != 0) {
    out.there = errno != ENOENT && errno != ENOTDIR;
    out.trouble = std::strerror(errno);
    return out;
  }
  out.there = true;
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  if (!error) out.path = whole.string();
  name_file_system(static_cast<unsigned long>(where.f_type), out);
  struct statvfs room;
  if (::statvfs(path.c_str(), &room) == 0) {
    out.free_bytes = static_cast<int64_t>(room.f_bavail * room.f_frsize);
    out.total_bytes = static_cast<int64_t>(room.f_blocks * room.f_frsize);
    if (room.f_files > 0) out.free_inodes = static_cast<int64_t>(room.f_favail);
  }
  const bool folder = std::filesystem::is_directory(path, error);
  out.writable = ::access(path.c_str(), folder ? W_OK | X_OK : W_OK) == 0;
  return out;
}

}  // namespace headway
