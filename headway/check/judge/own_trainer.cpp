#include <fmt/format.h>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/say.h"

namespace headway {
namespace {

// The first library that is missing, and how many more.
std::string missing_text(const std::vector<LoadedLibrary>& libraries) {
  std::string first;
  int64_t more = -1;
  for (const LoadedLibrary& each : libraries) {
    if (!each.path.empty()) continue;
    if (first.empty()) first = each.name;
    ++more;
  }
  return more > 0 ? fmt::format("{} and {} more", first, more) : first;
}

constexpr const char* kRepair =
    "install libtorch again (Debian: apt-get install --reinstall libtorch-dev), or add the folder "
    "where it is now to LD_LIBRARY_PATH";

}  // namespace

void judge_own_trainer(const MachineFacts& facts, CheckLines& lines) {
  const OwnTrainerFacts& own = facts.own_trainer;
  Say say(CheckTopic::kHeadway, lines);
  if (!own.found)
    return say.doubtful("headway-train", own.path + " does not exist",
                        {"`headway train` cannot run; all other verbs can",
                         "build it with HEADWAY_TRAIN=ON, which needs libtorch"});
  if (!own.trouble.empty() || !own.libraries) {
    // What the loader said: a library is damaged.
    const bool limited = own.trouble.find("failed to map") != std::string::npos;  // ulimit -v
    const bool broken = !limited && own.trouble.find("error while loading") != std::string::npos;
    const Say::Advice advice{"`headway train` does not start",
                             broken ? kRepair : "try it: headway train --help"};
    return say.add("headway-train", broken ? Fit::kWrong : Fit::kNotSeen,
                   broken
                       ? own.trouble
                       : "whether headway-train finds its libraries is not known: " + own.trouble,
                   advice);
  }
  if (const std::string missing = missing_text(*own.libraries); !missing.empty())
    return say.wrong("headway-train", "headway-train needs " + missing + ", which cannot be found",
                     {"`headway train` does not start", kRepair});
  if (!own.cuda && !facts.gpu.gpus.empty())
    say.doubtful("headway-train", "the libtorch of `headway train` is a build for the CPU alone",
                 {"a GPU is there, and `headway train` does not use it",
                  "configure with CMAKE_PREFIX_PATH set to a libtorch for CUDA (pip's torch has "
                  "one: python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')",
                  "gpu-not-used"});
  else
    say.good("headway-train", own.cuda ? "headway-train loads, with a libtorch for CUDA"
                                       : "headway-train loads, with a libtorch for the CPU");
  if (!own.blas) return;
  const std::string found = "headway train multiplies matrices with " + own.blas->library;
  if (!own.blas->reference)
    return say.not_seen("headway-blas", found + ", which cannot be read",
                        {"if it is the plain BLAS, layers compute ten times slower",
                         "see what it is: ls -l " + own.blas->library, "reference-blas"});
  if (!*own.blas->reference) return say.good("headway-blas", found);
  say.wrong("headway-blas", found + ", the plain BLAS",
            {"it uses one core and no vector instructions: layers compute ten times slower and "
             "more",
             "apt-get install libopenblas0-openmp, and take the plain one's folder out of "
             "LD_LIBRARY_PATH",
             "reference-blas"});
}

}  // namespace headway
