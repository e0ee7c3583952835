#include "headway/io/bytes/deflate.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>

namespace headway {
namespace {

constexpr int kLevel = 2;
constexpr size_t kWorkspaceBytes = ISAL_DEF_LVL2_DEFAULT;
constexpr size_t kOutputStep = size_t{64} << 10;

}  // namespace

Deflater::Deflater(Compression compression)
    : stream_(new isal_zstream), workspace_(new uint8_t[kWorkspaceBytes]) {
  isal_deflate_init(stream_.get());
  stream_->gzip_flag = compression == Compression::kGzip ? IGZIP_GZIP : IGZIP_ZLIB;
  stream_->level = kLevel;
  stream_->level_buf = workspace_.get();
  stream_->level_buf_size = kWorkspaceBytes;
}

Deflater::~Deflater() = default;

void Deflater::write(std::string_view bytes, std::string& out) {
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // the library counts in 32 bits
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kMostAtOnce);
    run(bytes.substr(0, n), NO_FLUSH, false, out);
    bytes.remove_prefix(n);
  }
}

void Deflater::flush(std::string& out) { run({}, SYNC_FLUSH, false, out); }

void Deflater::finish(std::string& out) { run({}, NO_FLUSH, true, out); }

void Deflater::run(std::string_view bytes, int flush, bool last, std::string& out) {
  stream_->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
  stream_->avail_in = static_cast<uint32_t>(bytes.size());
  stream_->flush = static_cast<uint16_t>(flush);
  stream_->end_of_stream = last;
  do {
    const size_t used = out.size();
    out.resize(used + kOutputStep);
    stream_->next_out = reinterpret_cast<uint8_t*>(out.data() + used);
    stream_->avail_out = kOutputStep;
    const int code = isal_deflate(stream_.get());
    out.resize(out.size() - stream_->avail_out);
    if (code != COMP_OK)
      throw Error(fmt::format("gzip or zlib compression failed (ISA-L gave code {})", code),
                  "write without compression; please report this as a bug of Headway");
  } while (stream_->avail_out == 0);
}

}  // namespace headway
