#include "headway/io/bytes/inflate.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>

namespace headway {
namespace {

constexpr size_t kInputBytes = size_t{128} << 10;

std::string_view reason_of(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK: return "a block header that deflate does not know";
    case ISAL_INVALID_SYMBOL: return "a code that stands for nothing";
    case ISAL_INVALID_LOOKBACK: return "a reference to before the start";
    case ISAL_INVALID_WRAPPER: return "no valid header";
    case ISAL_UNSUPPORTED_METHOD: return "a compression method other than deflate";
    case ISAL_INCORRECT_CHECKSUM: return "the checksum is wrong";
    case ISAL_NEED_DICT: return "a preset dictionary is asked for";
    default: return "an unknown fault";
  }
}

}  // namespace

InflateSource::InflateSource(File file, Compression compression)
    : file_(std::move(file)),
      compression_(compression),
      state_(new inflate_state),
      input_(new char[kInputBytes]) {
  file_.advise(File::Access::kSequential);
  restart();
}

InflateSource::~InflateSource() = default;

void InflateSource::restart() {
  isal_inflate_init(state_.get());
  input_end_ = offset_ = 0;
  in_member_ = any_member_ = done_ = false;
  damage_ = nullptr;
}

void InflateSource::refill() {
  const size_t got = file_.pread(input_end_, input_.get(), kInputBytes);
  input_end_ += got;
  state_->next_in = reinterpret_cast<uint8_t*>(input_.get());
  state_->avail_in = static_cast<uint32_t>(got);
}

bool InflateSource::start_member() {
  for (;;) {
    if (state_->avail_in == 0) refill();
    if (state_->avail_in == 0) return false;
    if (!any_member_ || *state_->next_in != 0) break;
    ++state_->next_in;
    --state_->avail_in;
  }
  constexpr uint8_t kGzipMagic = 0x1f;
  const bool another = compression_ == Compression::kGzip && *state_->next_in == kGzipMagic;
  if (any_member_ && !another) fail("bytes that are not compressed data follow its end");
  isal_inflate_reset(state_.get());
  state_->crc_flag = compression_ == Compression::kGzip ? ISAL_GZIP : ISAL_ZLIB;
  in_member_ = any_member_ = true;
  return true;
}

void InflateSource::step() {
  if (state_->avail_in == 0) refill();
  const bool at_end = state_->avail_in == 0;
  const uint32_t in = state_->avail_in;
  const uint32_t out = state_->avail_out;
  const int code = isal_inflate(state_.get());
  if (code != ISAL_DECOMP_OK) fail(std::string(reason_of(code)));
  if (state_->block_state == ISAL_BLOCK_FINISH) {
    in_member_ = false;
  } else if (state_->avail_in == in && state_->avail_out == out) {
    fail(at_end ? "the file ends in the middle" : "no way forward");
  }
}

size_t InflateSource::read(char* into, size_t n) {
  if (damage_) std::rethrow_exception(std::exchange(damage_, nullptr));
  if (done_) return 0;
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // the library counts in 32 bits
  n = std::min(n, kMostAtOnce);
  state_->next_out = reinterpret_cast<uint8_t*>(into);
  state_->avail_out = static_cast<uint32_t>(n);
  try {
    while (state_->avail_out > 0) {
      if (!in_member_ && !start_member()) {
        done_ = true;
        break;
      }
      step();
    }
  } catch (const SampleError&) {
    done_ = true;
    if (state_->avail_out == n) throw;
    damage_ = std::current_exception();
  }
  const size_t got = n - state_->avail_out;
  offset_ += got;
  return got;
}

void InflateSource::seek(uint64_t offset) {
  if (offset < offset_) restart();
  std::unique_ptr<char[]> scratch(new char[read_ahead_bytes()]);
  while (offset_ < offset) {
    const size_t n = std::min<uint64_t>(offset - offset_, read_ahead_bytes());
    if (read(scratch.get(), n) == 0) return;
  }
}

void InflateSource::fail(const std::string& reason) {
  const uint64_t at = input_end_ - state_->avail_in;
  throw SampleError({file_.path(), static_cast<int64_t>(at)},
                    fmt::format("damaged {} data: {} (the byte is counted in the compressed file)",
                                name_of(compression_), reason),
                    "the rest of this file cannot be read; copy or make the file again");
}

}  // namespace headway
