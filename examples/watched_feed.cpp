// A program that feeds something of its own, and is told why it waits: one worker makes all
// samples. Prints:
//
//   slow: one worker makes all samples, in tokenize(serial); ...
//   let it run on many elements at once: leave .num_parallel_calls = 1 out of map(); ...
//   left out: tokenize is no longer named: yes
#include <headway/headway.h>
#include <headway/observe/watched_feed.h>

#include <chrono>
#include <cstdio>
#include <thread>

using namespace headway;

int64_t tokenize(int64_t line) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a server that takes its time
  return line;
}

// What the inside eye says of two seconds of it.
Diagnosis watched(const Dataset& dataset) {
  WatchedFeed feed(dataset);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < until && feed.next()) {
  }
  return feed.finish();
}

int main() {
  const Dataset lines = range(1'000'000);
  const Diagnosis slow =
      watched(lines.map(tokenize, {.num_parallel_calls = 1, .name = "tokenize"}).batch(4));
  if (slow.findings.empty()) return 1;
  std::printf("%s\n%s\n", slow.verdict.sentence.c_str(), slow.findings[0].fix.c_str());
  const Diagnosis cured = watched(lines.map(tokenize, {.name = "tokenize"}).batch(4));
  const bool quiet = cured.findings.empty() || cured.findings[0].cause != slow.findings[0].cause;
  std::printf("left out: tokenize is no longer named: %s\n", quiet ? "yes" : "no");
  return slow.findings[0].cause == Cause::kSerialMap && quiet ? 0 : 1;
}
