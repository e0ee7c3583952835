#include "headway/probe/process/surroundings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace headway {
namespace {

// Code that a compiler made, followed by a gap: the kernel merges equal neighbours.
class Code {
 public:
  Code() : at_(mmap(nullptr, 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    mprotect(at_, page(), PROT_READ | PROT_EXEC);
  }
  ~Code() { munmap(at_, 2 * page()); }
  Code(const Code&) = delete;

 private:
  static size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  void* at_;
};

TEST(Surroundings, CodeThatNoLibraryBroughtIsCounted) {
  const int64_t before = look_around(getpid()).compiled;
  {
    const Code one, two, three;
    EXPECT_EQ(look_around(getpid()).compiled, before + 3);
  }
  EXPECT_EQ(look_around(getpid()).compiled, before);
}

}  // namespace
}  // namespace headway
