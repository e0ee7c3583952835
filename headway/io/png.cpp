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

#include "headway/io/unfilter.h"

namespace headway {
namespace {

constexpr uint8_t kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr int64_t kMaxInflation = 1032;  // deflate's best case, bytes out per byte in
constexpr int kMaxSide = 1 << 24;
constexpr size_t kSlack = kUnfilterSlack;

constexpr uint32_t tag(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) << 24 | uint32_t(uint8_t(name[1])) << 16 |
         uint32_t(uint8_t(name[2])) << 8 | uint8_t(name[3]);
}

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

int samples_of(PngColor color) {
  switch (color) {
    case PngColor::kRGB: return 3;
    case PngColor::kGrayAlpha: return 2;
    case PngColor::kRGBA: return 4;
    default: return 1;
  }
}

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
  size_t at = sizeof(kSignature);
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
    if ((type == tag("IHDR")) != (at == sizeof(kSignature))) {
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

// ---- conversion ----

namespace {

// A pixel at the file's depth (8 or 16 bits per sample once unpacked).
struct Pixel {
  std::array<uint16_t, 3> color;
  uint16_t alpha;
};

// libpng's weights for gray, in 1/32768.
constexpr uint32_t kRed = 9797, kGreen = 19234, kBlue = 3737;

// Rows in the file's format to rows as asked for.
class Converter {
 public:
  Converter(const PngHeader& header, const std::array<std::array<uint8_t, 4>, 256>& palette,
            const std::array<uint16_t, 3>& clear_color, int channels)
      : header_(header),
        palette_(palette),
        clear_color_(clear_color),
        channels_(channels),
        wide_(header.bit_depth == 16),
        color_source_(header.color != PngColor::kGray && header.color != PngColor::kGrayAlpha) {}

  template <typename T>
  void row(const uint8_t* from, T* to) const {
    for (int x = 0; x < header_.width; ++x) {
      const Pixel pixel = unpack(from, x);
      if (channels_ < 3) {
        *to++ = store<T>(color_source_ ? gray_of(pixel) : pixel.color[0]);
      } else {
        for (uint16_t value : pixel.color) *to++ = store<T>(value);
      }
      if (channels_ % 2 == 0) *to++ = store<T>(pixel.alpha);
    }
  }

 private:
  uint16_t sample(const uint8_t* row, int64_t i) const {
    if (wide_) return uint16_t(row[2 * i] << 8 | row[2 * i + 1]);
    if (header_.bit_depth == 8) return row[i];
    const int bits = header_.bit_depth, per_byte = 8 / bits;
    return uint16_t(row[i / per_byte] >> (8 - bits * (int(i % per_byte) + 1)) & ((1 << bits) - 1));
  }

  Pixel unpack(const uint8_t* row, int x) const {
    const uint16_t opaque = wide_ ? 65535 : 255;
    switch (header_.color) {
      case PngColor::kPalette: {
        const auto& entry = palette_[sample(row, x)];
        return {{entry[0], entry[1], entry[2]}, entry[3]};
      }
      case PngColor::kGray: {
        const uint16_t raw = sample(row, x);
        const bool clear = header_.transparency && raw == clear_color_[0];
        const auto gray =
            uint16_t(header_.bit_depth < 8 ? raw * (255 / ((1 << header_.bit_depth) - 1)) : raw);
        return {{gray, gray, gray}, clear ? uint16_t{0} : opaque};
      }
      case PngColor::kGrayAlpha: {
        const uint16_t gray = sample(row, 2 * int64_t{x});
        return {{gray, gray, gray}, sample(row, 2 * int64_t{x} + 1)};
      }
      default: break;
    }
    const int samples = samples_of(header_.color);
    const int64_t i = int64_t{x} * samples;
    const std::array<uint16_t, 3> color{sample(row, i), sample(row, i + 1), sample(row, i + 2)};
    if (samples == 4) return {color, sample(row, i + 3)};
    return {color, header_.transparency && color == clear_color_ ? uint16_t{0} : opaque};
  }

  uint16_t gray_of(const Pixel& p) const {
    const uint32_t sum = kRed * p.color[0] + kGreen * p.color[1] + kBlue * p.color[2];
    if (p.color[0] == p.color[1] && p.color[0] == p.color[2]) return p.color[0];
    return uint16_t((sum + (wide_ ? 16384 : 0)) >> 15);
  }

  template <typename T>
  T store(uint16_t value) const {
    if constexpr (sizeof(T) == 1) return T(wide_ ? value >> 8 : value);
    else return wide_ ? value : T(value * 257);
  }

  const PngHeader& header_;
  const std::array<std::array<uint8_t, 4>, 256>& palette_;
  const std::array<uint16_t, 3>& clear_color_;
  const int channels_;
  const bool wide_;
  const bool color_source_;
};

}  // namespace

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
  const Converter converter(header, me.palette, me.clear_color, channels);
  for (int y = 0; y < header.height; ++y) {
    uint8_t* to = out + y * pixels.row_stride_bytes;
    const uint8_t* from = native + y * stride;
    if (options.dtype == DType::kUInt8) converter.row(from, to);
    else converter.row(from, reinterpret_cast<uint16_t*>(to));
  }
  return pixels;
}

bool is_png(std::span<const uint8_t> bytes) {
  return bytes.size() >= sizeof(kSignature) &&
         std::memcmp(bytes.data(), kSignature, sizeof(kSignature)) == 0;
}

// ---- writing ----

namespace {

void append_word(std::vector<uint8_t>& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(uint8_t(value >> shift));
}

void append_chunk(std::vector<uint8_t>& out, uint32_t type, std::span<const uint8_t> data) {
  append_word(out, uint32_t(data.size()));
  const size_t start = out.size();
  append_word(out, type);
  out.insert(out.end(), data.begin(), data.end());
  append_word(out, libdeflate_crc32(0, &out[start], out.size() - start));
}

int paeth(int left, int up, int corner) {
  const int from_left = std::abs(up - corner), from_up = std::abs(left - corner);
  const int from_corner = std::abs(left + up - 2 * corner);
  if (from_left <= from_up && from_left <= from_corner) return left;
  return from_up <= from_corner ? up : corner;
}

void apply_filter(int filter, const uint8_t* row, const uint8_t* above, int64_t row_bytes,
                  int pixel_bytes, uint8_t* out) {
  for (int64_t i = 0; i < row_bytes; ++i) {
    const int left = i >= pixel_bytes ? row[i - pixel_bytes] : 0, up = above[i];
    const int corner = i >= pixel_bytes ? above[i - pixel_bytes] : 0;
    const int predictions[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
    out[i] = uint8_t(row[i] - predictions[filter]);
  }
}

// Of the five filters the one with the smallest residues, the usual guess at what packs best.
void filter_row(const uint8_t* row, const uint8_t* above, int64_t row_bytes, int pixel_bytes,
                std::vector<uint8_t>& trial, uint8_t* out) {
  int64_t best = INT64_MAX;
  for (int filter = 0; filter < 5; ++filter) {
    apply_filter(filter, row, above, row_bytes, pixel_bytes, trial.data());
    int64_t cost = 0;
    for (int64_t i = 0; i < row_bytes; ++i) cost += std::abs(int8_t(trial[i]));
    if (cost >= best) continue;
    best = cost;
    out[0] = uint8_t(filter);
    std::memcpy(out + 1, trial.data(), size_t(row_bytes));
  }
}

std::vector<uint8_t> compress(std::span<const uint8_t> raw, int level) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  if (!compressor) throw Error(fmt::format("encode_png: no compression level {}", level));
  std::vector<uint8_t> packed(libdeflate_zlib_compress_bound(compressor.get(), raw.size()));
  packed.resize(libdeflate_zlib_compress(compressor.get(), raw.data(), raw.size(), packed.data(),
                                         packed.size()));
  return packed;
}

}  // namespace

std::vector<uint8_t> encode_png(const void* pixels, DType dtype, int height, int width,
                                int channels, int64_t row_stride_bytes, int level) {
  if (channels < 1 || channels > 4 || (dtype != DType::kUInt8 && dtype != DType::kUInt16)) {
    throw Error(fmt::format("encode_png: {} channels of {}", channels, name_of(dtype)),
                "PNG holds 1 to 4 channels of uint8 or uint16");
  }
  constexpr PngColor kColors[] = {PngColor::kGray, PngColor::kGrayAlpha, PngColor::kRGB,
                                  PngColor::kRGBA};
  const int depth = dtype == DType::kUInt8 ? 8 : 16, pixel_bytes = channels * depth / 8;
  const int64_t row_bytes = int64_t{width} * pixel_bytes;
  std::vector<uint8_t> filtered(size_t(row_bytes + 1) * height);
  std::vector<uint8_t> row(row_bytes), above(row_bytes), trial(row_bytes);
  for (int y = 0; y < height; ++y) {
    const uint8_t* from = static_cast<const uint8_t*>(pixels) + y * row_stride_bytes;
    std::memcpy(row.data(), from, size_t(row_bytes));
    if (depth == 16) {
      for (int64_t i = 0; i < row_bytes; i += 2) std::swap(row[i], row[i + 1]);
    }
    filter_row(row.data(), above.data(), row_bytes, pixel_bytes, trial,
               &filtered[size_t(row_bytes + 1) * y]);
    std::swap(row, above);
  }
  std::vector<uint8_t> out(std::begin(kSignature), std::end(kSignature));
  std::vector<uint8_t> head;
  append_word(head, uint32_t(width));
  append_word(head, uint32_t(height));
  head.insert(head.end(), {uint8_t(depth), uint8_t(kColors[channels - 1]), 0, 0, 0});
  append_chunk(out, tag("IHDR"), head);
  append_chunk(out, tag("IDAT"), compress(filtered, level));
  append_chunk(out, tag("IEND"), {});
  return out;
}

}  // namespace headway
