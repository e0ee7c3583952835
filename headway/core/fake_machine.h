#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace headway::testing {

// A root folder with the files of /proc and /sys that a test wants to be true.
class FakeMachine {
 public:
  FakeMachine() {
    std::string name = (std::filesystem::temp_directory_path() / "headway-machine-XXXXXX").string();
    root = ::mkdtemp(name.data());
  }
  ~FakeMachine() { std::filesystem::remove_all(root); }
  FakeMachine(const FakeMachine&) = delete;

  void set(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }

  std::string root;
};

}  // namespace headway::testing
