#pragma once

#include <cstdint>

namespace headway {

// Undoes a PNG row filter. `raw` holds the filtered bytes (without the filter's own), `above` the
// finished row above (zeros for the first), `out` receives the row. `pixel_bytes` is 1 to 8.
// Up to kUnfilterSlack bytes beyond all three are read, and beyond `out` written.
// REQUIRES: filter <= 4.
constexpr int kUnfilterSlack = 64;
void unfilter(int filter, const uint8_t* raw, const uint8_t* above, int64_t row_bytes,
              int pixel_bytes, uint8_t* out);

}  // namespace headway
