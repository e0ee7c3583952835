#include "headway/check/facts/cuda_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headway/check/judge/cuda_fit.h"
#include "headway/check/judge/judge.h"
#include "headway/check/judge/pip.h"
#include "headway/check/judge/say.h"
#include "headway/check/judge/visible_gpus.h"

namespace headway {
namespace {

constexpr const char* kPage = "cuda-version-mismatch";

std::string_view name_of(const std::string& family) {
  return family == "cudnn" ? "cuDNN" : family == "cublas" ? "cuBLAS" : "the CUDA runtime";
}

std::string place_of(const CudaLibrary& library) {
  switch (library.from) {
    case CudaLibrary::From::kPath: return library.path + " (by LD_LIBRARY_PATH)";
    case CudaLibrary::From::kWheel: return library.path + " (of pip's packages)";
    case CudaLibrary::From::kConda: return library.path + " (of Conda)";
    case CudaLibrary::From::kSystem: return library.path + " (of the system)";
  }
  return library.path;
}

std::string remedy_for(const CudaLibrary& library) {
  return library.from == CudaLibrary::From::kPath
             ? "take its folder out of LD_LIBRARY_PATH (or: unset LD_LIBRARY_PATH); pip's "
               "frameworks bring the libraries that they need"
             : "remove this copy, or install its package again";
}

// A file that is not what its name says.
void judge_file(const CudaLibrary& library, Say& say) {
  if (!library.is_library)
    return say.wrong("cuda-library", place_of(library) + " is no shared library of this machine",
                     {"a program that asks for it by this name fails, even where a good copy "
                      "comes after it",
                      remedy_for(library), kPage});
  const int named = major_of(version_in_name(library.name));
  const int inner = major_of(version_in_name(library.inner_name));
  if (named == 0 || inner == 0 || named == inner) return;
  say.wrong("cuda-library",
            fmt::format("{} is named for version {} and is version {} ({})", place_of(library),
                        named, inner, library.inner_name),
            {"programs that were built for one load the other: they fail when they start, or "
             "compute with functions that differ",
             remedy_for(library), kPage});
}

// The first copy with this name, as a program that asks for it finds it.
const CudaLibrary* first_named(const MachineFacts& facts, const std::string& name) {
  for (const CudaLibrary& each : facts.cuda_libraries)
    if (each.name == name) return &each;
  return nullptr;
}

const CudaLibrary* first_at(const MachineFacts& facts, const std::string& path) {
  for (const CudaLibrary& each : facts.cuda_libraries)
    if (each.real == path) return &each;
  return nullptr;
}

// LD_LIBRARY_PATH puts another version before the one of the framework's own packages.
void judge_order(const MachineFacts& facts, Say& say) {
  std::set<std::string> seen;
  for (const CudaLibrary& each : facts.cuda_libraries) {
    if (each.from != CudaLibrary::From::kPath || !seen.insert(each.name).second) continue;
    for (const CudaLibrary& other : facts.cuda_libraries) {
      if (other.name != each.name || other.from != CudaLibrary::From::kWheel) continue;
      const bool differ =
          is_older(each.version, other.version) || is_older(other.version, each.version);
      if (!differ) continue;
      say.doubtful("cuda-library-order",
                   fmt::format("{}, version {}, comes before {}, version {}", place_of(each),
                               each.version, place_of(other), other.version),
                   {"a framework may load the first for some parts and its own for others",
                    remedy_for(each), kPage});
      break;
    }
  }
}

// Another major version on LD_LIBRARY_PATH than the frameworks were built with.
void judge_majors(const MachineFacts& facts, Say& say) {
  for (const InstalledFramework& framework : facts.python.frameworks) {
    const int wanted = major_of(framework.cudnn);
    if (framework.build != FrameworkBuild::kCuda || wanted == 0) continue;
    for (const CudaLibrary& each : facts.cuda_libraries) {
      const int have = major_of(each.version);
      if (each.from != CudaLibrary::From::kPath || each.family != "cudnn" || have == 0 ||
          have == wanted || major_of(version_in_name(each.name)) == wanted)
        continue;
      say.doubtful("cuda-library-order",
                   fmt::format("{} is cuDNN {}; {} was built with cuDNN {}", place_of(each), have,
                               framework.name, wanted),
                   {"programs that search for it by hand take the wrong one; it serves no "
                    "framework that is installed here",
                    remedy_for(each), kPage});
      return;
    }
  }
}

struct Wanted {
  std::string family{}, name{}, version{};  // version: built with
};
std::vector<Wanted> wanted_by(const InstalledFramework& framework) {
  std::vector<Wanted> out;
  if (const int cudnn = major_of(framework.cudnn); cudnn > 0)
    out.push_back({"cudnn", fmt::format("libcudnn.so.{}", cudnn), framework.cudnn});
  if (const int cuda = major_of(framework.cuda); cuda >= 12)
    out.push_back({"cudart", fmt::format("libcudart.so.{}", cuda), framework.cuda});
  return out;
}

std::string reinstall(const MachineFacts& facts, const InstalledFramework& framework) {
  const std::string pip = pip_of(facts.python) + " install --force-reinstall ";
  if (framework.package == "torch") return pip + "torch";
  if (framework.package == "jax")
    return fmt::format("{}'jax[cuda{}]'", pip, std::max(12, major_of(framework.cuda)));
  return pip + "'tensorflow[and-cuda]'";
}

// What the loader would take for a library of PyTorch's, which says itself where to search first.
std::string loaded_as(const InstalledFramework& framework, const std::string& name, bool& known) {
  for (const LoadedLibrary& each : framework.libraries)
    if (each.name == name) {
      known = true;
      return each.path;
    }
  known = false;
  return "";
}

void judge_wanted(const MachineFacts& facts, const InstalledFramework& framework,
                  const Wanted& wanted, Say& say) {
  bool known = false;
  const std::string loaded = loaded_as(framework, wanted.name, known);
  const CudaLibrary* found = known ? first_at(facts, loaded) : first_named(facts, wanted.name);
  if (!known && !framework.libraries.empty()) return;  // it does not ask for this one
  const bool missing = known ? loaded.empty() : !found;
  const std::string who = fmt::format("{} {}", framework.name, framework.version);
  if (missing)
    return say.wrong("framework-libraries",
                     fmt::format("{} needs {} ({}), and it is nowhere on the search path", who,
                                 wanted.name, name_of(wanted.family)),
                     {"it cannot be imported, or trains on the CPU without a word",
                      reinstall(facts, framework), kPage});
  if (!found || wanted.family != "cudnn" || !is_older(found->version, wanted.version)) return;
  say.wrong("framework-libraries",
            fmt::format("{} was built with cuDNN {} and finds {}, version {}", who, wanted.version,
                        place_of(*found), found->version),
            {"cuDNN must not be older than the one it was built with: the first convolution fails",
             remedy_for(*found), kPage});
}

void summarize(const MachineFacts& facts, Say& say) {
  std::string found;
  std::set<std::string> families;
  for (const CudaLibrary& each : facts.cuda_libraries)
    if (families.insert(each.family).second)
      found += fmt::format("{}{} {}", found.empty() ? "found first: " : ", ", name_of(each.family),
                           each.version);
  if (!found.empty()) say.good("cuda-libraries", found);
}

}  // namespace

void judge_cuda_libraries(const MachineFacts& facts, CheckLines& lines) {
  Say say(CheckTopic::kGpu, lines);
  std::set<std::string> files;
  for (const CudaLibrary& each : facts.cuda_libraries)
    if (files.insert(each.path).second) judge_file(each, say);
  judge_order(facts, say);
  judge_majors(facts, say);
  if (!visible_gpus(facts.gpu).shown.empty())
    for (const InstalledFramework& each : facts.python.frameworks)
      if (each.build == FrameworkBuild::kCuda)
        for (const Wanted& wanted : wanted_by(each)) judge_wanted(facts, each, wanted, say);
  summarize(facts, say);
}

}  // namespace headway
