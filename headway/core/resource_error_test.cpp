#include "headway/core/resource_error.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>

#include "headway/core/under_sanitizer.h"

namespace headway {
namespace {

TEST(ResourceError, OutOfMemoryNamesTheLimitThatWasMet) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer needs all addresses";
  EXPECT_NE(out_of_memory().problem().find("MB left"), std::string::npos);
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  rlimit some = before;
  some.rlim_cur = rlim_t{1} << 45;  // more than there is, so that it harms nobody
  ::setrlimit(RLIMIT_AS, &some);
  const std::string said = out_of_memory().problem();
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(said, "out of memory: this process may take 33554432 MB of address space (ulimit -v)");
}

TEST(ResourceError, AFullDiskIsNamedByItsFolder) {
  const ResourceError e = resource_error("/tmp/a.tfrecord", "cannot write", ENOSPC);
  EXPECT_NE(e.problem().find("No space left on device; the disk that holds /tmp"),
            std::string::npos)
      << e.what();
  EXPECT_NE(e.hint().find("disk"), std::string::npos);
}

TEST(ResourceError, OnlyWhatIsWrongWithOneFileIsOfThatFile) {
  for (const int error : {ENOENT, EACCES, EISDIR, ELOOP, ENAMETOOLONG}) {
    EXPECT_TRUE(is_of_one_file(error)) << error;
  }
  for (const int error : {EIO, ENOMEM, ENOSPC, EMFILE, ENFILE, EDQUOT, EROFS, ESTALE, ETIMEDOUT}) {
    EXPECT_FALSE(is_of_one_file(error)) << error;
  }
}

}  // namespace
}  // namespace headway
