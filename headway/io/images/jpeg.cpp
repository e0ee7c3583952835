#include "headway/io/images/jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "headway/io/images/jpeg_entropy.h"
#include "headway/io/images/jpeg_exif.h"
#include "headway/io/images/libjpeg.h"

namespace headway {
namespace {

// A file has at most about ten scans; thousands are an attack on the decoder's time.
constexpr int kMaxScans = 200;
// No entropy coding of JPEG's packs more pixels than this into one byte (64 per bit, and up to 16
// times that when the first component is the coarsest).
constexpr int64_t kMaxPixelsPerByte = 8192;
constexpr int kStripRows = 8;
constexpr size_t kLastingBytes = 4096;  // four tables of 136 bytes, eight of 280, and a source
constexpr size_t kAlignment = 64;
constexpr size_t kSlackBytes = 256;

// Warnings after which pixels are missing or wrong. The others (bytes too many between markers,
// odd Adobe or JFIF markers) occur in good files and are passed over, as everybody does.
bool means_damage(int message) {
  switch (message) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC: return true;
    default: return false;
  }
}

JpegColor color_of(J_COLOR_SPACE space) {
  switch (space) {
    case JCS_GRAYSCALE: return JpegColor::kGray;
    case JCS_YCbCr: return JpegColor::kYCbCr;
    case JCS_RGB: return JpegColor::kRGB;
    case JCS_CMYK: return JpegColor::kCMYK;
    case JCS_YCCK: return JpegColor::kYCCK;
    default: return JpegColor::kOther;
  }
}

// tf's arithmetic. Adobe files hold inverted ink.
void cmyk_to_rgb(const uint8_t* cmyk, int width, bool adobe, uint8_t* rgb) {
  const int turn = adobe ? 0 : 255;
  for (int x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int k = std::abs(turn - cmyk[3]);
    for (int c = 0; c < 3; ++c) rgb[c] = uint8_t(k * std::abs(turn - cmyk[c]) / 255);
  }
}

}  // namespace

struct JpegDecoder::Impl {
  Impl() {
    info.err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr common) { std::longjmp(self(common).jump, 1); };
    errors.emit_message = [](j_common_ptr common, int level) {
      Impl& me = self(common);
      if (level < 0 && me.damage == 0 && means_damage(me.errors.msg_code)) me.note_damage();
    };
    errors.output_message = [](j_common_ptr) {};
    info.client_data = this;
    progress.progress_monitor = [](j_common_ptr common) {
      Impl& me = self(common);
      if (me.info.input_scan_number <= kMaxScans) return;
      me.too_many_scans = true;
      std::longjmp(me.jump, 1);
    };
  }
  ~Impl() { jpeg_destroy_decompress(&info); }
  Impl(const Impl&) = delete;

  // The handle as if it had never seen a file. jpeg_abort would leave Huffman and quantisation
  // tables to the next one, on purpose; a new handle takes 11 us with libjpeg-turbo 3.2.
  void forget() {
    jpeg_abort_decompress(&info);
    if (!blank.mem || outgrown) create();
    info = blank;
    std::memset(lasting.data(), 0, lasting_bytes);
    lasting_bytes = 0;
  }

  void create() {
    jpeg_destroy_decompress(&info);
    blank = {};
    outgrown = false;
    guarded([&] { jpeg_create_decompress(&info); });
    info.progress = &progress;
    allocate_in_libjpeg = std::exchange(info.mem->alloc_small, allocate);
    blank = info;
  }

  // What is to last longer than the file (tables) lies with us, and is gone before the next one.
  static void* allocate(j_common_ptr common, int pool, size_t size_bytes) {
    Impl& me = self(common);
    if (pool != JPOOL_PERMANENT) return me.allocate_in_libjpeg(common, pool, size_bytes);
    if (size_bytes > me.lasting.size() - me.lasting_bytes) {
      me.outgrown = true;
      return me.allocate_in_libjpeg(common, pool, size_bytes);
    }
    uint8_t* const place = me.lasting.data() + me.lasting_bytes;
    me.lasting_bytes += (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
    return place;
  }

  static Impl& self(j_common_ptr common) { return *static_cast<Impl*>(common->client_data); }

  std::string message() {
    if (too_many_scans) return fmt::format("more than {} scans", kMaxScans);
    char text[JMSG_LENGTH_MAX] = {};
    errors.format_message(reinterpret_cast<j_common_ptr>(&info), text);
    return text;
  }

  void note_damage() {
    damage = errors.msg_code;
    errors.format_message(reinterpret_cast<j_common_ptr>(&info), damage_text);
  }

  // Behind the last byte libjpeg goes on in one of its own.
  int64_t position() const {
    if (!info.src) return 0;
    const auto at = reinterpret_cast<uintptr_t>(info.src->next_input_byte);
    const auto start = reinterpret_cast<uintptr_t>(bytes.data());
    return int64_t(at >= start ? std::min<uintptr_t>(at - start, bytes.size()) : bytes.size());
  }

  Origin here() const {
    Origin where = origin ? *origin : Origin{};
    where.offset = std::max<int64_t>(where.offset, 0) + position();
    return where;
  }

  [[noreturn]] void fail(const std::string& reason, const std::string& hint = "") {
    const SampleError error(here(), reason, hint);
    jpeg_abort_decompress(&info);
    throw error;
  }

  [[noreturn]] void fail_from_libjpeg() {
    if (errors.msg_code == JERR_OUT_OF_MEMORY && !too_many_scans) {
      jpeg_abort_decompress(&info);
      throw std::bad_alloc();  // not the file's fault
    }
    fail("JPEG cannot be decoded: " + message());
  }

  void check_damage() {
    if (damage == 0 || allow_damage) return;
    const bool early = damage == JWRN_JPEG_EOF;
    fail(early ? fmt::format("truncated JPEG: the file ends after row {} of {}",
                             info.output_scanline, info.output_height)
               : fmt::format("damaged JPEG near row {} of {}: {}", info.output_scanline,
                             info.output_height, damage_text),
         early ? "copy or download the file again" : "replace the file, or allow damage");
  }

  // Runs calls into libjpeg whose errors come back here. `calls` must own nothing: errors jump.
  template <typename Calls>
  void guarded(Calls calls) {
    if (setjmp(jump)) fail_from_libjpeg();
    calls();
  }

  void start(const JpegOptions& options);
  JpegOptions::Window enter_window(const JpegOptions& options);
  bool can_narrow(const JpegOptions& options) const;
  int rows_to_skip(const JpegOptions& options, int y) const;
  uint8_t* reserve_strip(size_t size_bytes);

  jpeg_decompress_struct info{};
  jpeg_decompress_struct blank{};  // as it was made
  decltype(jpeg_memory_mgr::alloc_small) allocate_in_libjpeg = nullptr;
  alignas(kAlignment) std::array<uint8_t, kLastingBytes> lasting{};
  size_t lasting_bytes = 0;
  bool outgrown = false;  // it was too small
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump;
  std::span<const uint8_t> bytes;
  const Origin* origin = nullptr;
  bool allow_damage = false;
  bool too_many_scans = false;
  JpegEntropy entropy;
  bool taken_over = false;  // by it
  int damage = 0;
  char damage_text[JMSG_LENGTH_MAX] = {};
  std::vector<uint8_t> strip;
  int64_t row_bytes = 0;  // of a row that is handed out
  int column_offset = 0;  // of the window inside the decoded columns
  int rows_above = 0;     // decoded rows before the window
};

// Rows at multiples of 32 are written past the caches by libjpeg-turbo (7.6 instead of 10 us for an
// image of 32 x 32), and ours are read at once: they start between.
uint8_t* JpegDecoder::Impl::reserve_strip(size_t size_bytes) {
  constexpr size_t kBetween = 16;
  const size_t needed = size_bytes + kSlackBytes + kAlignment + kBetween;
  if (strip.size() < needed) strip.assign(needed, 0);
  const auto beyond = reinterpret_cast<uintptr_t>(strip.data()) % kAlignment;
  return strip.data() + (kAlignment - beyond) + kBetween;
}

JpegDecoder::JpegDecoder() : impl_(std::make_unique<Impl>()) {}
JpegDecoder::~JpegDecoder() = default;
JpegDecoder::JpegDecoder(JpegDecoder&&) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&&) noexcept = default;

JpegHeader JpegDecoder::open(std::span<const uint8_t> bytes, const Origin& origin) {
  Impl& me = *impl_;
  me.bytes = bytes;
  me.origin = &origin;
  me.damage = 0;
  me.too_many_scans = false;
  me.allow_damage = false;
  me.forget();
  if (bytes.empty()) me.fail("the file is empty, but should be a JPEG image");
  me.guarded([&] {
    jpeg_mem_src(&me.info, bytes.data(), bytes.size());
    jpeg_read_header(&me.info, TRUE);
  });
  if (me.info.data_precision != BITS_IN_JSAMPLE) {
    me.fail(fmt::format("JPEG of {} bits per sample; only {} are read", me.info.data_precision,
                        BITS_IN_JSAMPLE),
            "convert the file to 8 bits, or to PNG, which may have 16");
  }
  const int64_t pixels = int64_t{me.info.image_width} * me.info.image_height;
  if (pixels > kMaxPixels) {
    me.fail(fmt::format("JPEG of {}x{} pixels, more than the {} allowed", me.info.image_width,
                        me.info.image_height, kMaxPixels),
            "leave the file out or shrink it first");
  }
  if (!me.info.arith_code && pixels / kMaxPixelsPerByte > int64_t(bytes.size())) {
    me.fail(fmt::format("JPEG header says {}x{} pixels, which {} bytes cannot hold",
                        me.info.image_width, me.info.image_height, bytes.size()));
  }
  return {.width = int(me.info.image_width),
          .height = int(me.info.image_height),
          .channels = me.info.num_components,
          .color = color_of(me.info.jpeg_color_space),
          .orientation = exif_orientation(bytes),
          .in_scans = jpeg_has_multiple_scans(&me.info) != FALSE};
}

JpegHeader JpegDecoder::read_header(std::span<const uint8_t> bytes, const Origin& origin) {
  const JpegHeader header = open(bytes, origin);
  jpeg_abort_decompress(&impl_->info);
  return header;
}

void JpegDecoder::Impl::start(const JpegOptions& options) {
  const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  const int channels = options.channels ? options.channels : std::min(info.num_components, 3);
  if (channels != 1 && channels != 3) {
    fail(fmt::format("a JPEG decodes to 1 or 3 channels, not {}", channels));
  }
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
  info.do_fancy_upsampling = options.mode == DecodeMode::kExact;
  info.dct_method = JDCT_ISLOW;
  info.scale_num = 1;
  info.scale_denom = options.scale_denominator;
  allow_damage = options.allow_damage;
  guarded([&] { jpeg_start_decompress(&info); });
  check_damage();
  // Lossless files have no inverse DCT: libjpeg-turbo 3 takes back the scale and decodes them at
  // full size, 2 cannot. They are refused with both: data must not depend on the library.
  if (block_side(info) * int(info.scale_denom) != DCTSIZE) {
    fail("lossless JPEG, which is not read", "convert the file to PNG");
  }
  taken_over = !allow_damage && !options.plain && entropy.take_over(info);
}

// With scaling and unusual subsampling libjpeg-turbo 2.1 narrows wrongly: all is decoded then.
bool JpegDecoder::Impl::can_narrow(const JpegOptions& options) const {
  return options.scale_denominator == 1 ||
         (info.max_h_samp_factor <= 2 && info.max_v_samp_factor <= 2);
}

// libjpeg-turbo 2.1 can skip from and to any row, but when it upsamples and converts colours at
// once (fast mode) only whole rows of MCUs; the rest is decoded and dropped.
int JpegDecoder::Impl::rows_to_skip(const JpegOptions& options, int y) const {
  if (!can_narrow(options)) return 0;
  if (options.mode == DecodeMode::kExact) return y;
  const int mcu_rows = info.max_v_samp_factor * block_side(info);
  return y / mcu_rows * mcu_rows;
}

// Narrows libjpeg to the window's columns and skips to its first row. Smooth upsampling looks at
// neighbours, so a margin is decoded too: pixels at libjpeg's own borders would differ.
JpegOptions::Window JpegDecoder::Impl::enter_window(const JpegOptions& options) {
  const int full_width = int(info.output_width), full_height = int(info.output_height);
  column_offset = rows_above = 0;
  if (!options.window) return {0, 0, full_width, full_height};
  const auto window = *options.window;
  if (window.x < 0 || window.y < 0 || window.width <= 0 || window.height <= 0 ||
      window.x > full_width - window.width || window.y > full_height - window.height) {
    fail(fmt::format("window {}x{} at ({}, {}) lies outside the {}x{} JPEG", window.width,
                     window.height, window.x, window.y, full_width, full_height));
  }
  const int margin = 8 * info.max_h_samp_factor;
  const int left = std::max(0, window.x - margin);
  const int right = std::min(full_width, window.x + window.width + margin);
  JDIMENSION x = left, width = right - left;
  if (right - left < full_width && can_narrow(options)) {
    guarded([&] { jpeg_crop_scanline(&info, &x, &width); });
    if (taken_over) entropy.narrow(info, x, width);
    column_offset = window.x - int(x);
  } else {
    column_offset = window.x;
  }
  const int skipped = rows_to_skip(options, window.y);
  if (skipped > 0) guarded([&] { jpeg_skip_scanlines(&info, JDIMENSION(skipped)); });
  check_damage();
  rows_above = window.y - skipped;
  return window;
}

void JpegDecoder::decode_rows(const JpegOptions& options, RowFunction function, void* context) {
  Impl& me = *impl_;
  me.start(options);
  const auto window = me.enter_window(options);
  const int components = me.info.output_components;
  const bool cmyk = me.info.out_color_space == JCS_CMYK;
  me.row_bytes = int64_t{window.width} * (cmyk ? 3 : components);
  const size_t strip_row = (size_t{me.info.output_width} * components + 63) / 64 * 64;
  uint8_t* strip = me.reserve_strip(strip_row * (kStripRows + 1));
  JSAMPROW rows[kStripRows];
  for (int i = 0; i < kStripRows; ++i) rows[i] = strip + strip_row * i;
  uint8_t* converted = strip + strip_row * kStripRows;

  for (int done = -me.rows_above; done < window.height;) {
    const int wanted = std::min(kStripRows, window.height - done);
    me.guarded([&] {
      for (int got = 0; got < wanted;) {
        got += int(jpeg_read_scanlines(&me.info, rows + got, JDIMENSION(wanted - got)));
      }
    });
    me.check_damage();
    for (int i = std::max(0, -done); i < wanted; ++i) {
      const uint8_t* row = rows[i] + int64_t{me.column_offset} * components;
      if (cmyk) {
        cmyk_to_rgb(row, window.width, me.info.saw_Adobe_marker, converted);
        row = converted;
      }
      function(context, row);
    }
    done += wanted;
  }
  jpeg_abort_decompress(&me.info);
}

void JpegDecoder::decode_into(const JpegOptions& options, uint8_t* data, int64_t stride_bytes) {
  decode(options, [&](const uint8_t* row) {
    if (impl_->row_bytes > stride_bytes) {
      throw Error(
          fmt::format("decode_into: a row of the image has {} bytes, but stride_bytes is only {}",
                      impl_->row_bytes, stride_bytes),
          fmt::format("give a stride_bytes of {} or more", impl_->row_bytes));
    }
    std::memcpy(data, row, size_t(impl_->row_bytes));
    data += stride_bytes;
  });
}

bool is_jpeg(std::span<const uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

}  // namespace headway
