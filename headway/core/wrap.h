#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway {

// `text` behind `label`, in lines of at most `width` characters where its words allow; the lines
// below the first are indented by as much as the label is long. Ends with a newline.
//
//   wrapped("  fix  ", "use more workers: ...", 100)
std::string wrapped(std::string_view label, std::string_view text, size_t width);

// The same with a short label in a column of its own, in lines of 100 characters:
// "  fix       let it run on many elements at once".
std::string labelled(std::string_view label, std::string_view text);

}  // namespace headway
