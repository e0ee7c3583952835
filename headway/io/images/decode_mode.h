#pragma once

namespace headway {

// kExact: tf.image's pixels, bit by bit. kFast: chroma is repeated instead of smoothed, and images
// much larger than what is wanted of them are decoded to a fraction of their size.
enum class DecodeMode { kExact, kFast };

}  // namespace headway
