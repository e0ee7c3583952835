#include "headway/io/images/image_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"

namespace headway {
namespace {

constexpr size_t kShownBytes = 8;

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool looks_like_a_page(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos) return false;
  std::string head(text.substr(start, 9));
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return head.starts_with("<!doctype") || head.starts_with("<html") || head.starts_with("<?xml") ||
         head.starts_with("<svg");
}

// The name of a format that is known and not decoded, or nothing.
std::string_view other_format(std::string_view text) {
  if (text.starts_with("GIF8")) return "a GIF";
  if (text.starts_with("BM")) return "a BMP";
  if (text.starts_with("RIFF") && text.substr(0, 12).ends_with("WEBP")) return "a WebP";
  if (text.starts_with("II*") || text.starts_with(std::string_view("MM\0*", 4))) return "a TIFF";
  if (text.size() >= 12 && text.substr(4, 4) == "ftyp") return "an AVIF, HEIC or MP4";
  if (text.starts_with("\x1f\x8b")) return "a gzip file";
  if (text.starts_with("PK\x03\x04")) return "a zip archive";
  if (looks_like_a_page(text)) return "a web page or other markup";
  return {};
}

}  // namespace

ImageFormat format_of(std::span<const uint8_t> bytes) {
  if (is_jpeg(bytes)) return ImageFormat::kJpeg;
  if (is_png(bytes)) return ImageFormat::kPng;
  return ImageFormat::kUnknown;
}

void throw_unknown_format(std::span<const uint8_t> bytes, const Origin& origin) {
  if (bytes.empty()) {
    throw SampleError(origin, "the file is empty, but should be an image",
                      "copy or download it again, or leave it out of the dataset");
  }
  std::string first;
  for (uint8_t byte : bytes.first(std::min(bytes.size(), kShownBytes))) {
    first += fmt::format("{}{:02x}", first.empty() ? "" : " ", byte);
  }
  const std::string_view other = other_format(text_of(bytes));
  if (other.empty()) {
    throw SampleError(origin,
                      fmt::format("not a JPEG or PNG image: it starts with the bytes {}", first),
                      "check that it is a complete image, or leave it out of the dataset");
  }
  throw SampleError(origin,
                    fmt::format("this is {}, not a JPEG or PNG image (it starts with the bytes {})",
                                other, first),
                    "convert this image to JPEG or PNG, or leave it out of the dataset");
}

}  // namespace headway
