#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway::cli {

// What this program was made from, and by what.
struct BuildFacts {
  std::string version;   // "0.1.0"
  std::string commit;    // "db458cf4f3a1", "db458cf4f3a1 with changes", "unknown"
  std::string compiler;  // "g++ 12.2.0"
  std::string build;     // "Release"
};
const BuildFacts& build_facts();

// {version, commit, compiler, build, libraries: [{name, version, file, note}]}: the codecs too.
nlohmann::ordered_json version_json();
// The same as lines; the last one says which libtorch is used.
std::string version_text(const std::string& libtorch);
// Of {version, cuda, why_no_gpu, blas}: "1.13.0 for the CPU, OpenBLAS".
std::string libtorch_text(const nlohmann::json& libtorch);

}  // namespace headway::cli
