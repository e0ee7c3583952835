// Too little memory and too few descriptors, by the kernel's own limits, and what large images take
// of the memory there is, by the kernel's own count. Each runs in a process of its own.
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "headway/core/clock.h"
#include "headway/headway.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway {
namespace {

struct Ended {
  std::string said;  // what `body` returned, or the error it ended in
  int64_t peak_mb = 0;
};

Ended in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      said = body();
    } catch (const std::exception& e) {
      said = e.what();
    }
    [[maybe_unused]] const ssize_t written = ::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  Ended ended;
  char bytes[4096];
  for (ssize_t n; (n = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    ended.said.append(bytes, size_t(n));
  ::close(ends[0]);
  rusage usage{};
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0) << ended.said;
  ended.peak_mb = usage.ru_maxrss >> 10;
  return ended;
}

int64_t empty_process_mb() {
  return in_child([] { return ""; }).peak_mb;
}

void append_word(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(char(value >> shift));
}
void append_chunk(std::string& out, const char* type, std::string_view data) {
  append_word(out, uint32_t(data.size()));
  const size_t start = out.size();
  out.append(type).append(data);
  append_word(out, libdeflate_crc32(0, &out[start], out.size() - start));
}

// A black PNG: large in memory, small in its file. Made in a process of its own, for it is large.
void write_black_png(const std::string& path, int side, int depth, int color, int channels) {
  in_child([&] {
    const std::string raw(size_t(side) * (size_t(side) * channels * depth / 8 + 1), '\0');
    libdeflate_compressor* compressor = libdeflate_alloc_compressor(1);
    std::string data(libdeflate_zlib_compress_bound(compressor, raw.size()), '\0');
    data.resize(
        libdeflate_zlib_compress(compressor, raw.data(), raw.size(), data.data(), data.size()));
    std::string file("\x89PNG\r\n\x1a\n"), head;
    append_word(head, uint32_t(side));
    append_word(head, uint32_t(side));
    head.append({char(depth), char(color), 0, 0, 0});
    append_chunk(file, "IHDR", head);
    append_chunk(file, "IDAT", data);
    append_chunk(file, "IEND", "");
    std::ofstream(path, std::ios::binary) << file;
    return "";
  });
}

std::string run_through(const Dataset& dataset, int threads) {
  Pipeline pipeline =
      dataset.with_options({.threads = threads, .errors = ErrorPolicy::skip_up_to(100)}).start();
  int64_t count = 0;
  while (pipeline.next()) ++count;
  return std::to_string(count) + " and " + std::to_string(pipeline.stats().skipped) + " skipped";
}

TEST(Shortage, OfMemoryEndsTheRunAndNamesTheLimit) {
  const Ended ended = in_child([] {
    const rlimit limit{rlim_t{2} << 30, rlim_t{2} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    return run_through(range(10).map([](Element e) {
      const int64_t size = e.only().item<int64_t>() == 5 ? int64_t{8} << 30 : 10;
      return Element(Tensor::empty(DType::kUInt8, {size}));
    }),
                       1);
  });
  EXPECT_NE(ended.said.find("out of memory: this process may take 2048 MB of address space"),
            std::string::npos)
      << ended.said;
}

TEST(Shortage, OfDescriptorsEndsTheRunAndNamesTheLimit) {
  const TempFolder folder;
  write_black_png(folder.path("a.png"), 10, 8, 2, 3);
  const Ended ended = in_child([&] {
    const Dataset images = files(folder.path("*.png")).decode_image();
    const rlimit limit{3, 3};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return run_through(images, 1);
  });
  EXPECT_NE(ended.said.find("may have 3 files open at once (ulimit -n)"), std::string::npos)
      << ended.said;
}

// 4096 x 4096 pixels of four times 16 bits are 128 MB, as RGB of 8 bits 48 MB.
TEST(LargeImages, TakeWhatTheyDecodeToAndLittleMore) {
  const TempFolder folder;
  write_black_png(folder.path("a.png"), 4096, 16, 6, 4);
  const int64_t empty = empty_process_mb();
  const Dataset image = files(folder.path("*.png")).decode_image();
  const Ended whole = in_child([&] { return run_through(image, 1); });
  EXPECT_EQ(whole.said, "1 and 0 skipped");
  EXPECT_LT(whole.peak_mb, empty + 48 + 16);
  const Ended small =
      in_child([&] { return run_through(image.resize({.height = 32, .width = 32}), 1); });
  EXPECT_EQ(small.said, "1 and 0 skipped");
  EXPECT_LT(small.peak_mb, empty + 16);
}

// 4000 x 4000 pixels of 3 bytes are 46 MB (malloc keeps what is below 32 MB for itself); twelve of
// them on up to four workers.
TEST(LargeImages, WaitForTheRamBudgetAndAllArrive) {
  const TempFolder folder;
  write_black_png(folder.path("0.png"), 4000, 8, 2, 3);
  for (int i = 1; i < 12; ++i)
    std::filesystem::copy_file(folder.path("0.png"), folder.path(std::to_string(i) + ".png"));
  const int64_t empty = empty_process_mb();
  const Dataset images = files(folder.path("*.png"))
                             .decode_image()
                             .with_options({.ram_budget_bytes = int64_t{100} << 20});
  for (const int threads : {1, 4}) {
    const Ended ended = in_child([&] { return run_through(images, threads); });
    EXPECT_EQ(ended.said, "12 and 0 skipped");
    EXPECT_LT(ended.peak_mb, empty + 100 + 46 + 16) << threads << " workers";
    std::printf("%d workers: %ld MB\n", threads, ended.peak_mb);
  }
}

}  // namespace
}  // namespace headway
