#pragma once

#include <string>
#include <string_view>

namespace headway::cli {

// The whole of a file that is small by its nature; Error when it is larger than that.
std::string read_whole(const std::string& path, size_t max_bytes);

// Writes a file, in a folder that exists, which appears whole or not at all. Unlike AtomicFile it
// does not wait for the device, so that thousands of small files are quick: it outlasts a killed
// program, though not a power cut.
void write_whole(const std::string& path, std::string_view bytes);

}  // namespace headway::cli
