#pragma once

#include <string>
#include <vector>

namespace headway {

// A library that reads or writes bytes for this room.
struct CodecLibrary {
  std::string name;
  std::string version;  // that Headway was compiled with
  std::string file;     // that this process has loaded; empty if it is part of the program
  std::string note;     // how it is used, where that differs from machine to machine
};
std::vector<CodecLibrary> codec_libraries();

}  // namespace headway
