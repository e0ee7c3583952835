#include "cli/build_facts.h"

#include <fmt/format.h>

#include "headway/core/json.h"
#include "headway/io/codecs.h"

namespace headway::cli {
namespace {

constexpr const char* kCommit =
#include "commit.inc"
    ;

std::string compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string line(const std::string& name, const std::string& text) {
  return fmt::format("  {:<14} {}\n", name, text);
}

}  // namespace

const BuildFacts& build_facts() {
  static const BuildFacts facts{HEADWAY_VERSION, kCommit, compiler(), HEADWAY_BUILD_TYPE};
  return facts;
}

nlohmann::ordered_json version_json() {
  const BuildFacts& facts = build_facts();
  auto libraries = nlohmann::ordered_json::array();
  for (const CodecLibrary& each : codec_libraries())
    libraries.push_back(
        {{"name", each.name}, {"version", each.version}, {"file", each.file}, {"note", each.note}});
  return {{"version", facts.version},
          {"commit", facts.commit},
          {"compiler", facts.compiler},
          {"build", facts.build},
          {"libraries", std::move(libraries)}};
}

std::string version_text(const std::string& libtorch) {
  const BuildFacts& facts = build_facts();
  std::string out = fmt::format("headway {}, commit {}\n", facts.version, facts.commit);
  out += line("compiler", fmt::format("{}, {}", facts.compiler, facts.build));
  for (const CodecLibrary& each : codec_libraries()) {
    std::string text = each.version;
    for (const std::string& more : {each.note, each.file})
      if (!more.empty()) text += ", " + more;
    out += line(each.name, text);
  }
  return out + line("libtorch", libtorch);
}

std::string libtorch_text(const nlohmann::json& libtorch) {
  const JsonView of(libtorch);
  std::string out = of["version"].as<std::string>();
  const JsonView cuda = of["cuda"], why_no_gpu = of["why_no_gpu"];
  if (cuda.is_null()) {
    out += " for the CPU";
  } else {
    out += " with CUDA " + cuda.as<std::string>();
    if (!why_no_gpu.is_null()) out += ", no GPU can be used: " + why_no_gpu.as<std::string>();
  }
  return out + ", " + of["blas"].as<std::string>();
}

}  // namespace headway::cli
