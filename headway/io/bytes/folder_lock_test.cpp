#include "headway/io/bytes/folder_lock.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "headway/core/error.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& folder) {
  try {
    const FolderLock lock(folder, "the second");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// Holds the lock until it is killed.
pid_t start_holder(const std::string& folder) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder, "the first");
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]), ::close(ready[1]);
  return child;
}

TEST(FolderLock, TheSecondIsToldWhoHoldsIt) {
  const TempFolder folder;
  const FolderLock first(folder.path(), "headway convert");
  const std::string said = refusal(folder.path());
  EXPECT_THAT(said, HasSubstr("headway convert, process " + std::to_string(::getpid())));
  EXPECT_THAT(said, HasSubstr("give another folder"));
}

TEST(FolderLock, AnotherProcessIsKeptOutUntilThisOneIsKilled) {
  const TempFolder folder;
  const pid_t holder = start_holder(folder.path());
  EXPECT_THAT(refusal(folder.path()), HasSubstr("the first, process " + std::to_string(holder)));
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_EQ(refusal(folder.path()), "");
}

TEST(FolderLock, NothingIsLeftBehind) {
  const TempFolder folder;
  std::optional<FolderLock> lock(std::in_place, folder.path(), "me");
  EXPECT_TRUE(std::filesystem::exists(folder.path(FolderLock::kFile)));
  lock.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FolderLock, ALinkInItsPlaceIsRefusedAndItsTargetUntouched) {
  const TempFolder folder;
  folder.write("notes.txt", "precious");
  std::filesystem::create_symlink(folder.path("notes.txt"), folder.path(FolderLock::kFile));
  EXPECT_THAT(refusal(folder.path()), HasSubstr(FolderLock::kFile));
  EXPECT_EQ(folder.read("notes.txt"), "precious");
}

}  // namespace
}  // namespace headway
