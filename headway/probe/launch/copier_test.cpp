#include "headway/probe/launch/copier.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headway/probe/launch/descriptors.h"

namespace headway {
namespace {

// A copier between two pipes, with the ends that other processes would hold.
class CopierTest : public testing::Test {
 protected:
  CopierTest() {
    ::fcntl(copy.write.get(), F_SETFL, O_NONBLOCK);
    pid = ::fork();
    if (pid == 0) {
      const CopierEnds ends = {to.write.get(),   from.read.get(),          words.read.get(),
                               copy.write.get(), watcher_bell.other.get(), relay_bell.other.get()};
      close_all_but(
          {ends.to, ends.from, ends.words, ends.copy, ends.watcher_bell, ends.relay_bell});
      copy_output(ends);
    }
    for (Descriptor* theirs :
         {&to.write, &from.read, &words.read, &copy.write, &watcher_bell.other, &relay_bell.other})
      theirs->close();
  }
  ~CopierTest() override {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  static void put(const Pipe& pipe, const std::string& text) {
    ASSERT_EQ(::write(pipe.write.get(), text.data(), text.size()), ssize_t(text.size()));
  }
  std::string shown(size_t count) {
    std::string text(count, 0);
    for (size_t at = 0; at < count;) {
      const ssize_t got = ::read(to.read.get(), text.data() + at, count - at);
      if (got <= 0) return text.substr(0, at);
      at += static_cast<size_t>(got);
    }
    return text;
  }
  static bool answered(const SocketPair& bell, int timeout_ms) {
    pollfd file = {bell.one.get(), POLLIN, 0};
    return ::poll(&file, 1, timeout_ms) > 0;
  }

  Pipe to, from, words, copy;
  SocketPair watcher_bell, relay_bell;
  pid_t pid;
};

TEST_F(CopierTest, EndsWithTheLastWriter) {
  put(from, "a line\n");
  from.write.close(), words.write.close();
  EXPECT_EQ(shown(100), "a line\n");
}

TEST_F(CopierTest, PutsOurWordsBetweenTheLinesOfTheCommand) {
  put(from, "half ");
  EXPECT_EQ(shown(5), "half ");
  ::kill(pid, SIGSTOP);
  put(words, "ours\n");
  put(from, "a line\n");
  ::kill(pid, SIGCONT);
  EXPECT_EQ(shown(12), "a line\nours\n");
}

TEST_F(CopierTest, DoesNotKeepOurWordsForALineThatNeverEnds) {
  put(from, "50%");
  put(words, "ours\n");
  EXPECT_EQ(shown(9), "50%\nours\n");
}

TEST_F(CopierTest, AnswersABellWhenAllThatCameBeforeIsPassedOn) {
  const std::string much(50'000, 'x');
  put(from, much), put(from, "\n");
  ::shutdown(relay_bell.one.get(), SHUT_WR);
  EXPECT_TRUE(answered(relay_bell, 60'000));
  EXPECT_EQ(shown(50'001), much + "\n");
}

TEST_F(CopierTest, AnswersNoBellWhileTheUserDoesNotRead) {
  const std::string much(60'000, 'x');
  for (int i = 0; i < 3; ++i) put(from, much);  // more than fits between the copier and the user
  ::shutdown(relay_bell.one.get(), SHUT_WR);
  EXPECT_FALSE(answered(relay_bell, 100));
  EXPECT_EQ(shown(180'000).size(), 180'000u);
  EXPECT_TRUE(answered(relay_bell, 60'000));
}

TEST_F(CopierTest, LeavesOutWhatTheWatcherDoesNotReadAndCountsIt) {
  for (int i = 0; i < 30; ++i) {
    put(from, std::string(10'000, 'x'));
    EXPECT_EQ(shown(10'000).size(), 10'000u);  // whether the watcher reads or not
  }
  CopyReader reader(copy.read.get());
  int64_t seen = 0, lost = 0;
  const auto take = [&](std::string_view bytes, int64_t lost_before) {
    seen += int64_t(bytes.size()), lost += lost_before;
  };
  ASSERT_TRUE(reader.read(take));
  put(from, "more");
  EXPECT_EQ(shown(4), "more");
  ::shutdown(watcher_bell.one.get(), SHUT_WR);
  while (reader.read(take)) continue;  // until it is closed
  EXPECT_GT(lost, 0);
  EXPECT_EQ(seen + lost, 300'004);
}

TEST_F(CopierTest, LetsTheCommandFeelThatTheReaderIsGone) {
  to.read.close();
  put(from, "to nobody");
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), EPIPE);
}

}  // namespace
}  // namespace headway
