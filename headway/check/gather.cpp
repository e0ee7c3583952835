#include "headway/check/gather.h"

#include <algorithm>
#include <filesystem>

#include "headway/check/facts/cuda_libraries.h"
#include "headway/check/facts/disk.h"
#include "headway/check/facts/frameworks.h"
#include "headway/check/facts/gpus.h"
#include "headway/check/facts/library.h"
#include "headway/check/facts/python.h"
#include "headway/check/facts/resources.h"
#include "headway/check/facts/script.h"

namespace headway {
namespace {

OwnTrainerFacts read_own_trainer(const std::string& path) {
  OwnTrainerFacts out{.path = path};
  std::error_code error;
  out.found = std::filesystem::is_regular_file(path, error);
  if (!out.found) return out;
  LoaderAnswer answer = libraries_of(path);
  out.trouble = answer.trouble;
  if (!answer.trouble.empty()) return out;
  out.cuda =
      std::any_of(answer.libraries.begin(), answer.libraries.end(),
                  [](const LoadedLibrary& each) { return each.name.starts_with("libtorch_cuda"); });
  out.blas = blas_among(answer.libraries, "headway train");
  out.libraries = std::move(answer.libraries);
  return out;
}

}  // namespace

MachineFacts gather(const CheckOptions& options) {
  MachineFacts out;
  out.gpu = read_gpus();
  out.cores = read_cores();
  out.memory = read_memory();
  out.permissions = read_permissions();
  out.python = read_python(options.python);
  if (!out.python.version.empty()) read_frameworks(out.python);
  out.cuda_libraries = find_cuda_libraries(out.python);
  out.own_trainer = read_own_trainer(options.own_trainer);
  out.disk = read_disk(options.data);
  if (options.measure_disk) out.speed = measure_disk(out.disk, options.disk_seconds);
  if (!options.script.empty()) out.script = read_script(options.script, out.python);
  return out;
}

}  // namespace headway
