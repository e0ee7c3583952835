#include "headway/io/png.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "headway/io/png_converter.h"
#include "headway/io/png_format.h"
#include "headway/io/unfilter.h"

namespace headway {
namespace {

constexpr int64_t kMaxInflation = 1032;  // deflate's best case, bytes out per byte in
constexpr int kMaxSide = 1 << 24;
constexpr size_t kSlack = kUnfilterSlack;

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
  const uint8_t* inflate();
  void unfilter_pass(const uint8_t*& from, int width, int height, uint8_t* out,
                     int64_t stride) const;
  const uint8_t* native_rows(const uint8_t* filtered, int64_t& stride);

  std::span<const uint8_t> bytes;
  const Origin* origin = nullptr;
  PngHeader header;
  std::array<std::array<uint8_t, 4>, 256> palette;
  int palette_size = 0;
  std::array<uint16_t, 3> clear_color{};        // tRNS of gray and RGB images
  std::vector<std::span<const uint8_t>> parts;  // IDAT payloads

  std::unique_ptr<inflate_state> inflater = std::make_unique<inflate_state>();
  Scratch filtered, rows, pass_rows, zeros, converted;
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

const uint8_t* PngDecoder::Impl::inflate() {
  const int64_t wanted = filtered_size_of(header);
  int64_t compressed = 0;
  for (const auto& part : parts) compressed += int64_t(part.size());
  if (wanted / kMaxInflation > compressed) {
    fail(offset_of(parts[0]),
         fmt::format("PNG header says {}x{} pixels, which {} bytes cannot hold", header.width,
                     header.height, compressed));
  }
  uint8_t* out = filtered.reserve(size_t(wanted));
  isal_inflate_init(inflater.get());
  inflater->crc_flag = ISAL_ZLIB;
  inflater->next_out = out;
  inflater->avail_out = uint32_t(wanted + 1);  // one more, to notice data that is too long
  for (const auto& part : parts) {
    inflater->next_in = const_cast<uint8_t*>(part.data());
    inflater->avail_in = uint32_t(part.size());
    if (isal_inflate(inflater.get()) == ISAL_DECOMP_OK) continue;
    fail(offset_of(part), "damaged PNG: its image data does not inflate");
  }
  const auto got = int64_t(inflater->total_out);
  if (got > wanted) fail(offset_of(parts[0]), "PNG with more image data than pixels");
  if (got < wanted || inflater->block_state != ISAL_BLOCK_FINISH) {
    fail(offset_of(parts[0]),
         fmt::format("PNG with {} bytes of pixels instead of {}", got, wanted));
  }
  return out;
}

void PngDecoder::Impl::unfilter_pass(const uint8_t*& from, int width, int height, uint8_t* out,
                                     int64_t stride) const {
  const FilteredImage pass{
      .filtered = from,
      .zeros = zeros.data(),
      .row_bytes = row_bytes_of(header, width),
      .rows = height,
      .pixel_bytes = std::max(1, samples_of(header.color) * header.bit_depth / 8)};
  if (const auto bad_row = unfilter(pass, out, stride)) {
    fail(offset_of(parts[0]), fmt::format("PNG row {} has an unknown filter", *bad_row));
  }
  from += (pass.row_bytes + 1) * height;
}

namespace {

// Copies pixel `i` of a packed row to pixel `j` of another. REQUIRES: the target's bits are 0.
void copy_pixel(const uint8_t* from, int i, uint8_t* to, int j, int pixel_bits) {
  if (pixel_bits >= 8) {
    const int size = pixel_bits / 8;
    std::memcpy(to + int64_t{j} * size, from + int64_t{i} * size, size_t(size));
    return;
  }
  const int per_byte = 8 / pixel_bits;
  const int shift_from = 8 - pixel_bits * (i % per_byte + 1),
            shift_to = 8 - pixel_bits * (j % per_byte + 1);
  const int value = from[i / per_byte] >> shift_from & ((1 << pixel_bits) - 1);
  to[j / per_byte] |= uint8_t(value << shift_to);
}

}  // namespace

// Unfiltered rows in the file's own format.
const uint8_t* PngDecoder::Impl::native_rows(const uint8_t* from, int64_t& stride) {
  stride = row_bytes_of(header, header.width) + kUnfilterSlack;
  const size_t total = size_t(stride) * header.height;
  std::memset(zeros.reserve(size_t(stride)), 0, size_t(stride));
  uint8_t* out = rows.reserve(total);
  if (!header.interlaced) {
    unfilter_pass(from, header.width, header.height, out, stride);
    return out;
  }
  const int pixel_bits = samples_of(header.color) * header.bit_depth;
  std::memset(out, 0, total);
  for (const Pass& pass : kAdam7) {
    const int width = pass.width(header), height = pass.height(header);
    if (width <= 0 || height <= 0) continue;
    const int64_t pass_stride = row_bytes_of(header, width) + kUnfilterSlack;
    uint8_t* part = pass_rows.reserve(size_t(pass_stride) * height);
    unfilter_pass(from, width, height, part, pass_stride);
    for (int y = 0; y < height; ++y) {
      uint8_t* row = out + stride * (pass.y0 + int64_t{y} * pass.dy);
      for (int x = 0; x < width; ++x) {
        copy_pixel(part + y * pass_stride, x, row, pass.x0 + x * pass.dx, pixel_bits);
      }
    }
  }
  return out;
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

PngPixels PngDecoder::decode(const PngOptions& options) {
  Impl& me = *impl_;
  const PngHeader& header = me.header;
  if (options.channels < 0 || options.channels > 4) {
    throw Error(fmt::format("decode_png: {} channels; 0 to 4 are possible", options.channels));
  }
  const int channels = options.channels ? options.channels : header.channels;
  int64_t stride = 0;
  const uint8_t* native = me.native_rows(me.inflate(), stride);
  PngPixels pixels{.data = native,
                   .dtype = options.dtype,
                   .height = header.height,
                   .width = header.width,
                   .channels = channels,
                   .row_stride_bytes = stride};
  const bool as_it_is = header.bit_depth == 8 && options.dtype == DType::kUInt8 &&
                        header.color != PngColor::kPalette && channels == samples_of(header.color);
  if (as_it_is) return pixels;

  pixels.row_stride_bytes = int64_t{header.width} * channels * size_of(options.dtype);
  uint8_t* out = me.converted.reserve(size_t(pixels.row_stride_bytes) * header.height);
  pixels.data = out;
  const PngConverter converter(header, me.palette, me.clear_color, channels);
  for (int y = 0; y < header.height; ++y) {
    uint8_t* to = out + y * pixels.row_stride_bytes;
    const uint8_t* from = native + y * stride;
    if (options.dtype == DType::kUInt8) converter.row(from, to);
    else converter.row(from, reinterpret_cast<uint16_t*>(to));
  }
  return pixels;
}

bool is_png(std::span<const uint8_t> bytes) {
  return bytes.size() >= sizeof(kPngSignature) &&
         std::memcmp(bytes.data(), kPngSignature, sizeof(kPngSignature)) == 0;
}

}  // namespace headway
