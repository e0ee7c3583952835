#pragma once

#include <cstdint>
#include <string_view>

// What a caller chooses about pixels.
namespace headway {

enum class Filter { kNearest, kBilinear, kBicubic, kArea };
enum class Layout { kHWC, kCHW };
// What stands outside the image: the nearest edge pixel, a constant, the mirrored image (abcd|dcba)
// or the repeated one. As scipy.ndimage, which keras uses.
enum class FillMode { kNearest, kConstant, kReflect, kWrap };

std::string_view name_of(Filter filter);  // "bilinear" ...
std::string_view name_of(FillMode fill);  // "nearest" ...

}  // namespace headway
