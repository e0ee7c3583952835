// A law: what a file decodes to does not depend on the files before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headway/core/random.h"
#include "headway/io/images/jpeg.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kStart = 0xD8, kEnd = 0xD9, kScan = 0xDA;
constexpr uint8_t kHuffman = 0xC4, kQuantisation = 0xDB, kRestartInterval = 0xDD, kAdobe = 0xEE;

Bytes picture(const JpegEncoding& encoding, int channels = 3) {
  constexpr int kHeight = 40, kWidth = 56;
  Random random(uint64_t(encoding.quality), channels, 0, 0);
  Bytes pixels;
  for (int i = 0; i < kHeight * kWidth * channels; ++i)
    pixels.push_back(uint8_t(random.below(256)));
  return encode_jpeg(pixels.data(), kHeight, kWidth, channels, kWidth * channels, encoding);
}

// The segments in front of the scan that `keep` wants, and the scan.
template <typename Keep>
Bytes filtered(const Bytes& file, Keep keep) {
  Bytes out = {0xFF, kStart};
  size_t at = 2;
  while (file[at + 1] != kScan) {
    const size_t next = at + 2 + size_t(file[at + 2] * 256 + file[at + 3]);
    if (keep(file[at + 1])) out.insert(out.end(), file.begin() + at, file.begin() + next);
    at = next;
  }
  out.insert(out.end(), file.begin() + at, file.end());
  return out;
}
Bytes without(const Bytes& file, uint8_t marker) {
  return filtered(file, [&](uint8_t found) { return found != marker; });
}

Bytes with_segment(Bytes file, uint8_t marker, const Bytes& payload) {
  Bytes segment = {0xFF, marker, 0, uint8_t(payload.size() + 2)};
  segment.insert(segment.end(), payload.begin(), payload.end());
  file.insert(file.begin() + 2, segment.begin(), segment.end());
  return file;
}

// An abbreviated stream: tables for the files that follow, and no picture.
Bytes tables_only(const Bytes& file) {
  Bytes out =
      filtered(file, [](uint8_t found) { return found == kHuffman || found == kQuantisation; });
  const Bytes mark = {0xFF, kScan};
  const auto scan = std::search(out.begin(), out.end(), mark.begin(), mark.end());
  out.erase(scan, out.end());
  out.insert(out.end(), {0xFF, kEnd});
  return out;
}

Bytes damaged(Bytes file) {
  for (size_t i = file.size() / 2; i < file.size() / 2 + 9; ++i) file[i] ^= 0x55;
  return file;
}

std::vector<Bytes> corpus() {
  std::vector<Bytes> files = {{}, {'G', 'I', 'F'}, {0xFF, kStart, 0xFF, kEnd}};
  for (const int quality : {20, 90}) {
    for (const bool progressive : {false, true}) {
      const Bytes whole = picture({.quality = quality, .progressive = progressive});
      const Bytes restarts = picture(
          {.quality = quality, .progressive = progressive, .horizontal = 1, .restart_interval = 3});
      files.insert(files.end(),
                   {whole, picture({.quality = quality, .progressive = progressive}, 1), restarts,
                    without(whole, kQuantisation), without(whole, kHuffman),
                    without(restarts, kRestartInterval),
                    with_segment(whole, kRestartInterval, {0, 7}), tables_only(whole),
                    with_segment(whole, kAdobe, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0}),
                    damaged(whole), damaged(restarts), Bytes(whole.begin(), whole.end() - 300)});
    }
  }
  return files;
}

// The pixels, or what the error says.
std::string outcome(JpegDecoder& decoder, const Bytes& file, const JpegOptions& options) {
  const Origin origin{.file = "file"};
  std::string pixels;
  try {
    const JpegHeader header = decoder.open(file, origin);
    const int scale = options.scale_denominator;
    const int width = options.window ? options.window->width : (header.width + scale - 1) / scale;
    const size_t row_bytes = size_t(width) * size_t(std::min(header.channels, 3));
    decoder.decode(options, [&](const uint8_t* row) {
      pixels.append(reinterpret_cast<const char*>(row), row_bytes);
    });
  } catch (const SampleError& e) {
    return e.what();
  }
  return pixels;
}

std::string fresh_outcome(const Bytes& file, const JpegOptions& options = {}) {
  JpegDecoder decoder;
  return outcome(decoder, file, options);
}

// Opens a file and thinks better of it, before the first row or behind it.
void abandon(JpegDecoder& decoder, const Bytes& file) try {
  const Origin origin{.file = "file"};
  decoder.open(file, origin);
  if (file.size() % 2 == 0) decoder.decode({}, [](const uint8_t*) { throw Error("enough"); });
} catch (const Error&) {
}

TEST(JpegOrder, EveryFileGivesTheSameInEveryOrder) {
  const std::vector<Bytes> files = corpus();
  const JpegOptions ways[] = {{},
                              {.mode = DecodeMode::kFast},
                              {.allow_damage = true},
                              {.plain = true},
                              {.scale_denominator = 4},
                              {.window = JpegOptions::Window{24, 9, 17, 20}}};
  std::vector<std::vector<std::string>> alone(files.size());
  for (size_t file = 0; file < files.size(); ++file) {
    for (const auto& way : ways) alone[file].push_back(fresh_outcome(files[file], way));
  }
  Random random(1, 0, 0, 0);
  JpegDecoder kept;
  for (int turn = 0; turn < 5000; ++turn) {
    if (turn % 8 == 0) abandon(kept, files[random.below(files.size())]);
    const size_t file = random.below(files.size()), way = random.below(std::size(ways));
    ASSERT_TRUE(outcome(kept, files[file], ways[way]) == alone[file][way])
        << "file " << file << ", way " << way << ", turn " << turn;
  }
}

TEST(JpegOrder, AFrameWithoutHuffmanTablesMeansTheStandardOnes) {
  const Bytes standard = picture({}), others = picture({.quality = 20, .progressive = true});
  const std::string pixels = fresh_outcome(standard);
  EXPECT_TRUE(fresh_outcome(without(standard, kHuffman)) == pixels);
  JpegDecoder kept;
  outcome(kept, others, {});
  EXPECT_TRUE(outcome(kept, without(standard, kHuffman), {}) == pixels);
}

TEST(JpegOrder, QuantisationTablesAreNotTakenFromTheFileBefore) {
  const Bytes whole = picture({}), bare = without(whole, kQuantisation);
  JpegDecoder kept;
  outcome(kept, whole, {});
  EXPECT_NE(outcome(kept, bare, {}).find("Quantization table 0x00 was not defined"),
            std::string::npos);
  outcome(kept, tables_only(whole), {});
  EXPECT_EQ(outcome(kept, bare, {}), fresh_outcome(bare));
}

TEST(JpegOrder, AFileIsDecodedOnce) {
  JpegDecoder decoder;
  const Bytes file = picture({});
  const Origin origin{.file = "file"};
  decoder.open(file, origin);
  decoder.decode({}, [](const uint8_t*) {});
  EXPECT_THROW(decoder.decode({}, [](const uint8_t*) {}), SampleError);
}

}  // namespace
}  // namespace headway
