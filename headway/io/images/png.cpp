#include "headway/io/images/png.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "headway/io/images/png_converter.h"
#include "headway/io/images/png_format.h"
#include "headway/io/images/unfilter.h"

namespace headway {
namespace {

constexpr int64_t kMaxInflation = 1032;  // deflate's best case, bytes out per byte in
constexpr int kMaxSide = 1 << 24;
constexpr size_t kSlack = 256;           // behind each piece of memory; kUnfilterSlack is less
constexpr int64_t kBandBytes = 1 << 20;  // inflated at a time, or one row if that is more

uint32_t big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

std::string name_of_tag(uint32_t type) {
  std::string name;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const char c = char(type >> shift);
    name += c >= 32 && c < 127 ? c : '?';
  }
  return name;
}

// Memory that grows, never shrinks and is not cleared.
class Scratch {
 public:
  ~Scratch() { std::free(data_); }
  Scratch() = default;
  Scratch(const Scratch&) = delete;

  uint8_t* reserve(size_t size_bytes) {
    if (size_bytes + kSlack <= capacity_) return data_;
    std::free(data_);
    capacity_ = 0;
    data_ = static_cast<uint8_t*>(std::malloc(size_bytes + kSlack));
    if (!data_) throw std::bad_alloc();
    capacity_ = size_bytes + kSlack;
    return data_;
  }
  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_ = nullptr;
  size_t capacity_ = 0;
};

// Inflating and unfiltering may leave the upper halves of the vector registers in use. What is
// compiled for SSE runs slower from there on, by 15% of a small image on an AMD EPYC, until they
// are cleared.
#if defined(__x86_64__)
[[gnu::target("avx"), gnu::noinline]] void clear_upper_halves() { _mm256_zeroupper(); }
const bool kHasUpperHalves = __builtin_cpu_supports("avx");
#else
void clear_upper_halves() {}
constexpr bool kHasUpperHalves = false;
#endif

bool depth_allowed(PngColor color, int depth) {
  switch (color) {
    case PngColor::kGray:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case PngColor::kPalette: return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case PngColor::kRGB:
    case PngColor::kGrayAlpha:
    case PngColor::kRGBA: return depth == 8 || depth == 16;
  }
  return false;
}

// One of Adam7's seven part-images, or the whole of an image that is not interlaced.
struct Pass {
  int x0, y0, dx, dy;

  int width(const PngHeader& h) const { return (h.width - x0 + dx - 1) / dx; }
  int height(const PngHeader& h) const { return (h.height - y0 + dy - 1) / dy; }
};
constexpr Pass kWhole[] = {{0, 0, 1, 1}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

std::span<const Pass> passes_of(const PngHeader& header) {
  return header.interlaced ? std::span<const Pass>(kAdam7) : std::span<const Pass>(kWhole);
}

int64_t row_bytes_of(const PngHeader& header, int width) {
  return (int64_t{width} * samples_of(header.color) * header.bit_depth + 7) / 8;
}

int64_t filtered_size_of(const PngHeader& header) {
  int64_t size = 0;
  for (const Pass& pass : passes_of(header)) {
    const int width = pass.width(header), height = pass.height(header);
    if (width > 0 && height > 0) size += (row_bytes_of(header, width) + 1) * height;
  }
  return size;
}

}  // namespace

struct PngDecoder::Impl {
  [[noreturn]] void fail(size_t at, const std::string& reason, const std::string& hint = "") const {
    Origin where = *origin;
    where.offset = std::max<int64_t>(where.offset, 0) + int64_t(at);
    throw SampleError(where, reason, hint);
  }

  void read_chunks();
  void read_header_chunk(std::span<const uint8_t> data, size_t at);
  void read_palette(std::span<const uint8_t> data, size_t at);
  void read_transparency(std::span<const uint8_t> data);
  size_t offset_of(std::span<const uint8_t> part) const {
    return size_t(part.data() - bytes.data());
  }
  void start_inflating();
  void inflate_into(uint8_t* out, int64_t size_bytes);
  bool inflate_more();
  void finish_inflating();
  template <typename RowFn>
  void read_pass(int width, int height, const RowFn& row_fn);

  std::span<const uint8_t> bytes;
  const Origin* origin = nullptr;
  PngHeader header;
  std::array<std::array<uint8_t, 4>, 256> palette;
  int palette_size = 0;
  std::array<uint16_t, 3> clear_color{};        // tRNS of gray and RGB images
  std::vector<std::span<const uint8_t>> parts;  // IDAT payloads

  std::unique_ptr<inflate_state> inflater = std::make_unique<inflate_state>();
  size_t next_part = 0;    // of `parts`, to inflate from
  int64_t left_bytes = 0;  // to inflate
  Scratch filtered, rows, above, line, whole, pixels;
};

// ---- chunks ----

void PngDecoder::Impl::read_header_chunk(std::span<const uint8_t> data, size_t at) {
  if (data.size() != 13) fail(at, fmt::format("IHDR of {} bytes instead of 13", data.size()));
  const uint32_t width = big_endian(data.data()), height = big_endian(data.data() + 4);
  if (width == 0 || height == 0 || width > kMaxSide || height > kMaxSide ||
      int64_t{width} * height > kMaxPixels) {
    fail(at, fmt::format("PNG of {}x{} pixels; 1 to {} are allowed", width, height, kMaxPixels));
  }
  header = {.width = int(width),
            .height = int(height),
            .bit_depth = data[8],
            .color = PngColor(data[9]),
            .interlaced = data[12] == 1};
  if (!depth_allowed(header.color, header.bit_depth)) {
    fail(at + 8,
         fmt::format("PNG of colour type {} with {} bits: no such thing", data[9], data[8]));
  }
  if (data[10] != 0 || data[11] != 0 || data[12] > 1) {
    fail(at + 10, fmt::format("PNG with unknown compression {}, filter {} or interlacing {}",
                              data[10], data[11], data[12]));
  }
}

void PngDecoder::Impl::read_palette(std::span<const uint8_t> data, size_t at) {
  if (header.color != PngColor::kPalette) return;  // a mere suggestion there
  if (data.empty() || data.size() % 3 != 0 || data.size() > 768) {
    fail(at, fmt::format("palette of {} bytes", data.size()));
  }
  palette_size = int(data.size() / 3);
  for (int i = 0; i < 256; ++i) palette[i] = {0, 0, 0, 255};
  for (int i = 0; i < palette_size; ++i) {
    palette[i] = {data[3 * i], data[3 * i + 1], data[3 * i + 2], 255};
  }
}

void PngDecoder::Impl::read_transparency(std::span<const uint8_t> data) {
  const auto word = [&](int i) { return uint16_t(data[2 * i] << 8 | data[2 * i + 1]); };
  if (header.color == PngColor::kPalette) {
    if (data.empty() || int(data.size()) > palette_size) return;  // as libpng: ignored
    for (size_t i = 0; i < data.size(); ++i) palette[i][3] = data[i];
  } else if (header.color == PngColor::kGray && data.size() == 2) {
    const auto mask = uint16_t((1u << header.bit_depth) - 1);
    clear_color = {uint16_t(word(0) & mask), 0, 0};
  } else if (header.color == PngColor::kRGB && data.size() == 6) {
    clear_color = {word(0), word(1), word(2)};
  } else {
    return;
  }
  header.transparency = true;
}

void PngDecoder::Impl::read_chunks() {
  size_t at = sizeof(kPngSignature);
  bool ended = false, data_over = false;
  while (!ended) {
    if (bytes.size() - at < 12) {
      fail(at, "truncated PNG: no IEND chunk", "copy or download the file again");
    }
    const size_t length = big_endian(&bytes[at]);
    const uint32_t type = big_endian(&bytes[at + 4]);
    if (bytes.size() - at - 12 < length) {
      fail(at,
           fmt::format("truncated PNG: chunk {} has {} bytes, {} are left", name_of_tag(type),
                       length, bytes.size() - at - 12),
           "copy or download the file again");
    }
    const auto data = bytes.subspan(at + 8, length);
    const bool critical = !(type & 0x20000000);
    if (critical || type == tag("tRNS")) {
      const uint32_t sum = libdeflate_crc32(0, &bytes[at + 4], length + 4);
      if (sum != big_endian(&bytes[at + 8 + length])) {
        fail(at, fmt::format("damaged PNG: wrong CRC of chunk {}", name_of_tag(type)));
      }
    }
    if ((type == tag("IHDR")) != (at == sizeof(kPngSignature))) {
      fail(at, fmt::format("PNG chunk {} where IHDR should be or was", name_of_tag(type)));
    }
    if (type == tag("IDAT")) {
      if (data_over) fail(at, "PNG image data in two places");
      parts.push_back(data);
    } else {
      data_over = !parts.empty();
      if (type == tag("IHDR")) read_header_chunk(data, at + 8);
      else if (type == tag("PLTE") && parts.empty()) read_palette(data, at + 8);
      else if (type == tag("tRNS") && parts.empty()) read_transparency(data);
      else if (type == tag("IEND")) ended = true;
      else if (critical && type != tag("PLTE"))
        fail(at, "unknown critical PNG chunk " + name_of_tag(type));
    }
    at += length + 12;
  }
  if (parts.empty()) fail(at, "PNG without image data");
  if (header.color == PngColor::kPalette && palette_size == 0)
    fail(at, "palette PNG without palette");
}

// ---- image data ----

void PngDecoder::Impl::start_inflating() {
  const int64_t wanted = filtered_size_of(header);
  int64_t compressed = 0;
  for (const auto& part : parts) compressed += int64_t(part.size());
  if (wanted / kMaxInflation > compressed) {
    fail(offset_of(parts[0]),
         fmt::format("PNG header says {}x{} pixels, which {} bytes cannot hold", header.width,
                     header.height, compressed));
  }
  isal_inflate_init(inflater.get());
  inflater->crc_flag = ISAL_ZLIB;
  inflater->avail_in = 0;
  next_part = 0;
  left_bytes = wanted;
}

// Fills some of next_out; false when nothing is left to inflate from.
bool PngDecoder::Impl::inflate_more() {
  if (inflater->block_state == ISAL_BLOCK_FINISH) return false;
  const uint32_t room = inflater->avail_out;
  while (inflater->avail_in == 0 && next_part < parts.size()) {
    inflater->next_in = const_cast<uint8_t*>(parts[next_part].data());
    inflater->avail_in = uint32_t(parts[next_part].size());
    ++next_part;
  }
  const uint32_t had = inflater->avail_in;
  if (isal_inflate(inflater.get()) != ISAL_DECOMP_OK) {
    fail(offset_of(parts[next_part - 1]), "damaged PNG: its image data does not inflate");
  }
  const bool moved = inflater->avail_out < room || inflater->avail_in < had;
  return moved || next_part < parts.size();
}

// One byte more is asked for behind the last: so its checksum is seen in the same call, and data
// that is too long.
void PngDecoder::Impl::inflate_into(uint8_t* out, int64_t size_bytes) {
  left_bytes -= size_bytes;
  const uint32_t surplus = left_bytes == 0 ? 1 : 0;
  inflater->next_out = out;
  inflater->avail_out = uint32_t(size_bytes) + surplus;
  while (inflater->avail_out > surplus) {
    if (inflate_more()) continue;
    fail(offset_of(parts[0]), fmt::format("PNG with too little image data for {}x{} pixels",
                                          header.width, header.height));
  }
}

void PngDecoder::Impl::finish_inflating() {
  while (inflater->avail_out == 1 && inflate_more()) {
  }
  if (inflater->avail_out == 0) {
    fail(offset_of(parts[0]), "PNG with more image data than pixels");
  }
  if (inflater->block_state != ISAL_BLOCK_FINISH) {
    fail(offset_of(parts[0]), "PNG whose image data has no end");
  }
}

// Calls row_fn(y, row) with each unfiltered row of a pass, in the file's own format.
template <typename RowFn>
void PngDecoder::Impl::read_pass(int width, int height, const RowFn& row_fn) {
  const int64_t row_bytes = row_bytes_of(header, width), stride = row_bytes + kUnfilterSlack;
  const int band = int(std::clamp<int64_t>(kBandBytes / (row_bytes + 1), 1, height));
  uint8_t* const in = filtered.reserve(size_t(row_bytes + 1) * band);
  uint8_t* const out = rows.reserve(size_t(stride) * band);
  std::memset(above.reserve(size_t(stride)), 0, size_t(stride));
  for (int y = 0; y < height; y += band) {
    const int count = std::min(band, height - y);
    inflate_into(in, (row_bytes + 1) * count);
    const FilteredImage part{
        .filtered = in,
        .zeros = above.data(),
        .row_bytes = row_bytes,
        .rows = count,
        .pixel_bytes = std::max(1, samples_of(header.color) * header.bit_depth / 8)};
    if (const auto bad_row = unfilter(part, out, stride)) {
      fail(offset_of(parts[0]), fmt::format("PNG row {} has an unknown filter", y + *bad_row));
    }
    if (kHasUpperHalves) clear_upper_halves();
    for (int k = 0; k < count; ++k) row_fn(y + k, out + k * stride);
    std::memcpy(above.data(), out + (count - 1) * stride, size_t(row_bytes));
  }
}

PngDecoder::PngDecoder() : impl_(std::make_unique<Impl>()) {}
PngDecoder::~PngDecoder() = default;
PngDecoder::PngDecoder(PngDecoder&&) noexcept = default;
PngDecoder& PngDecoder::operator=(PngDecoder&&) noexcept = default;

PngHeader PngDecoder::open(std::span<const uint8_t> bytes, const Origin& origin) {
  Impl& me = *impl_;
  me.bytes = bytes;
  me.origin = &origin;
  me.header = {};
  me.parts.clear();
  me.palette_size = 0;
  if (!is_png(bytes)) me.fail(0, "not a PNG");
  me.read_chunks();
  PngHeader& header = me.header;
  header.channels =
      header.color == PngColor::kPalette ? (header.transparency ? 4 : 3) : samples_of(header.color);
  return header;
}

void PngDecoder::decode_rows(const PngOptions& options, RowFunction function, void* context) {
  Impl& me = *impl_;
  const PngHeader& header = me.header;
  if (options.channels < 0 || options.channels > 4) {
    throw Error(
        fmt::format("decode_png: invalid number of channels {}; it must be 1 to 4, or 0 to keep "
                    "those of the file",
                    options.channels));
  }
  const int channels = options.channels ? options.channels : header.channels;
  const bool as_it_is = header.bit_depth == 8 && options.dtype == DType::kUInt8 &&
                        header.color != PngColor::kPalette && channels == samples_of(header.color);
  const int64_t pixel_bytes = int64_t{channels} * size_of(options.dtype);
  const int64_t row_bytes = header.width * pixel_bytes;
  uint8_t* const line = me.line.reserve(size_t(row_bytes));
  const PngConverter converter(header, me.palette, me.clear_color, channels);
  const auto converted = [&](const uint8_t* native, int width) -> const uint8_t* {
    if (as_it_is) return native;
    if (options.dtype == DType::kUInt8) converter.row(native, width, line);
    else converter.row(native, width, reinterpret_cast<uint16_t*>(line));
    return line;
  };
  me.start_inflating();
  if (!header.interlaced) {
    me.read_pass(header.width, header.height, [&](int, const uint8_t* native) {
      function(context, converted(native, header.width));
    });
    return me.finish_inflating();
  }
  uint8_t* const whole = me.whole.reserve(size_t(row_bytes) * header.height);
  for (const Pass& pass : kAdam7) {
    const int width = pass.width(header), height = pass.height(header);
    if (width <= 0 || height <= 0) continue;
    me.read_pass(width, height, [&](int y, const uint8_t* native) {
      const uint8_t* from = converted(native, width);
      uint8_t* to = whole + row_bytes * (pass.y0 + int64_t{y} * pass.dy) + pixel_bytes * pass.x0;
      for (int x = 0; x < width; ++x, from += pixel_bytes, to += pixel_bytes * pass.dx)
        std::memcpy(to, from, size_t(pixel_bytes));
    });
  }
  me.finish_inflating();
  for (int y = 0; y < header.height; ++y) function(context, whole + y * row_bytes);
}

PngPixels PngDecoder::decode(const PngOptions& options) {
  const PngHeader& header = impl_->header;
  PngPixels pixels{.dtype = options.dtype,
                   .height = header.height,
                   .width = header.width,
                   .channels = options.channels ? options.channels : header.channels};
  pixels.row_stride_bytes = int64_t{header.width} * pixels.channels * size_of(options.dtype);
  uint8_t* to = impl_->pixels.reserve(size_t(pixels.row_stride_bytes) * header.height);
  pixels.data = to;
  decode(options, [&](const uint8_t* row) {
    std::memcpy(to, row, size_t(pixels.row_stride_bytes));
    to += pixels.row_stride_bytes;
  });
  return pixels;
}

bool is_png(std::span<const uint8_t> bytes) {
  return bytes.size() >= sizeof(kPngSignature) &&
         std::memcmp(bytes.data(), kPngSignature, sizeof(kPngSignature)) == 0;
}

}  // namespace headway
