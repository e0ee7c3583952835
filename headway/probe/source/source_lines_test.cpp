#include "headway/probe/source/source_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace headway {
namespace {

// A file with this text, which exists while `look` runs.
template <typename Look>
auto with_source(const std::string& source, Look look) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("headway_source_{}.py", getpid());
  std::ofstream(path) << source;
  SourceLines sources(getpid());
  auto found = look(sources, path.string());
  std::filesystem::remove(path);
  return found;
}

std::vector<std::string> endless_in(const std::string& source) {
  return with_source(
      source, [](SourceLines& s, const std::string& file) { return s.endless_generators(file); });
}

TEST(TouchesOneElement, KnowsAnElementFromARow) {
  EXPECT_TRUE(touches_one_element("mask[0, y, x] = g / 255.0"));
  EXPECT_TRUE(touches_one_element("g = image.getpixel((x, y))"));
  EXPECT_TRUE(touches_one_element("total += rows[y][x]"));
  EXPECT_FALSE(touches_one_element("mask[0, y, :] = row"));
  EXPECT_FALSE(touches_one_element("image = resize(load(path))"));
}

TEST(SourceLines, AGeneratorThatYieldsForEverIsFoundByItsText) {
  EXPECT_EQ(endless_in("def batches():\n"
                       "    while True:\n"
                       "        for x in data:\n"
                       "            yield x\n"),
            std::vector<std::string>{"batches"});
}

TEST(SourceLines, OneThatEndsIsNot) {
  EXPECT_TRUE(endless_in("def batches():\n"
                         "    for x in data:\n"
                         "        yield x\n"
                         "while True:\n"
                         "    pass\n")
                  .empty());
}

TEST(SourceLines, NorOneThatIsCutShort) {
  EXPECT_TRUE(endless_in("def batches():\n"
                         "    while True:\n"
                         "        yield 1\n"
                         "data = islice(batches(), 10)\n")
                  .empty());
}

TEST(SourceLines, LoopsAroundALineAreThoseOfItsOwnFunction) {
  const char* source =
      "for epoch in range(3):\n"
      "    def mask(image):\n"
      "        for y in range(h):\n"
      "            # a remark\n"
      "            for x in range(w):\n"
      "                out[y, x] = image[y, x]\n"
      "        return out\n";
  const auto loops = [&](int64_t line) {
    return with_source(source, [&](SourceLines& s, const std::string& file) {
      return s.loops_around(file, line).count;
    });
  };
  EXPECT_EQ(loops(6), 2);
  EXPECT_EQ(loops(5), 1);
  EXPECT_EQ(loops(7), 0);
}

TEST(SourceLines, ACallOfWhatJaxCompiledIsKnown) {
  const auto calls = [](int64_t line) {
    return with_source(
        "@partial(jax.jit, donate_argnums=0)\ndef step(p, x):\n    return p\n"
        "loss_fn = jax.jit(raw_loss)\ndef other(x): return x\n"
        "p = step(p, x)\nl = loss_fn(p)\nx = other(x)\nx = big_step(x)\n",
        [&](SourceLines& s, const std::string& file) { return s.calls_compiled(file, line); });
  };
  EXPECT_TRUE(calls(6));
  EXPECT_TRUE(calls(7));
  EXPECT_FALSE(calls(8));
  EXPECT_FALSE(calls(9));
  EXPECT_FALSE(calls(900));
}

TEST(SourceLines, LinesThatSetThreadsAreFoundWithTheirNumbers) {
  const auto found =
      with_source("import torch\ntorch.set_num_threads(1)\nthreads = 4\n",
                  [](SourceLines& s, const std::string& file) { return s.thread_settings(file); });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text, "torch.set_num_threads(1)");
  EXPECT_EQ(found[0].at.line, 2);
  EXPECT_EQ(found[0].threads, 1);
}

TEST(SourceLines, ALineThatComputesTakesNoLock) {
  EXPECT_TRUE(may_take_a_lock("with self.lock:"));
  EXPECT_TRUE(may_take_a_lock("worker.join()"));
  EXPECT_FALSE(may_take_a_lock("y = x @ w"));
}

}  // namespace
}  // namespace headway
