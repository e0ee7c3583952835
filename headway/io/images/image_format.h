#pragma once

#include <cstdint>
#include <span>

#include "headway/core/error.h"

namespace headway {

enum class ImageFormat { kJpeg, kPng, kUnknown };

// By the first bytes; file names are not looked at.
ImageFormat format_of(std::span<const uint8_t> bytes);

// For kUnknown: says what the bytes are instead (GIF, BMP, WebP, a web page, nothing at all).
[[noreturn]] void throw_unknown_format(std::span<const uint8_t> bytes, const Origin& origin);

}  // namespace headway
