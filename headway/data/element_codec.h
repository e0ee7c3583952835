#pragma once

#include <string>
#include <string_view>

#include "headway/core/element.h"

namespace headway {

// An element as bytes, for the file cache. The layout is this program's own: it is read back by the
// same version on the same kind of machine, which the cache file's header makes sure of.
void encode_element(const Element& element, std::string& out);

// Throws Error when the bytes are not what encode_element wrote. Values are copied.
Element decode_element(std::string_view bytes);

}  // namespace headway
