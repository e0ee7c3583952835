#include "headway/probe/process/elf_dynamic.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace headway {
namespace {

ElfDynamic dynamic_of_file(const std::string& path) {
  auto file = TargetFile::open(::getpid(), *file_user_of(::getpid()),
                               std::filesystem::canonical(path).string(), TargetFile::Owner::kAny,
                               uint64_t{1} << 32);
  EXPECT_TRUE(file);
  const auto image = ElfImage::open(std::move(*file));
  EXPECT_TRUE(image);
  return dynamic_of(*image);
}

TEST(ElfDynamic, ALibrarySaysItsNameAndAProgramWhatItNeeds) {
  void* libc = ::dlopen("libc.so.6", RTLD_NOW);
  ASSERT_NE(libc, nullptr);
  link_map* map = nullptr;
  ASSERT_EQ(::dlinfo(libc, RTLD_DI_LINKMAP, &map), 0);
  EXPECT_EQ(dynamic_of_file(map->l_name).soname, "libc.so.6");
  ::dlclose(libc);

  const ElfDynamic own = dynamic_of_file("/proc/self/exe");
  EXPECT_EQ(own.soname, "");
  EXPECT_NE(std::find(own.needed.begin(), own.needed.end(), "libc.so.6"), own.needed.end());
}

}  // namespace
}  // namespace headway
