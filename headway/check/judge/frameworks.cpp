#include <fmt/format.h>

#include <algorithm>

#include "headway/check/judge/cuda_fit.h"
#include "headway/check/judge/judge.h"
#include "headway/check/judge/pip.h"
#include "headway/check/judge/say.h"
#include "headway/check/judge/visible_gpus.h"

namespace headway {
namespace {

std::string name_of(const InstalledFramework& framework) {
  return fmt::format("{} {}", framework.name, framework.version);
}

// How a build for CUDA is installed.
std::string install_for_cuda(const MachineFacts& facts, const InstalledFramework& framework) {
  const std::string command = pip_of(facts.python);
  if (framework.package == "torch")
    return fmt::format(
        "{} install --force-reinstall torch (on Linux that is a build for CUDA; an "
        "older one for an older driver: PyTorch's installation page)",
        command);
  if (framework.package == "jax")
    return fmt::format("{} install 'jax[cuda{}]'", command, facts.gpu.cuda >= 13000 ? 13 : 12);
  return fmt::format("{0} uninstall -y tensorflow-cpu, then {0} install 'tensorflow[and-cuda]'",
                     command);
}

bool any_for_cuda(const PythonFacts& python) {
  return std::any_of(
      python.frameworks.begin(), python.frameworks.end(),
      [](const InstalledFramework& each) { return each.build == FrameworkBuild::kCuda; });
}

std::string built_text(const InstalledFramework& framework) {
  switch (framework.build) {
    case FrameworkBuild::kCuda:
      return fmt::format("{}, built for CUDA {}{}", name_of(framework), framework.cuda,
                         framework.cudnn.empty() ? "" : " and cuDNN " + framework.cudnn);
    case FrameworkBuild::kCpu: return name_of(framework) + ", a build for the CPU alone";
    case FrameworkBuild::kOther: return name_of(framework) + ", a build for other accelerators";
    case FrameworkBuild::kUnknown: break;
  }
  return name_of(framework);
}

void judge_build(const MachineFacts& facts, const InstalledFramework& framework, Say& say) {
  const std::string found = built_text(framework);
  if (facts.gpu.gpus.empty()) return say.good("framework", found);
  if (framework.build == FrameworkBuild::kUnknown)
    return say.not_seen("framework", found + ": how it was built cannot be told by its files",
                        {"it may be a build without CUDA",
                         fmt::format("ask it: {} -c 'import {}' and its list of devices",
                                     facts.python.program, framework.package),
                         "gpu-not-used"});
  if (framework.build != FrameworkBuild::kCpu) return say.good("framework", found);
  const Say::Advice advice{"a GPU is there, and it will train on the CPU, without a word",
                           install_for_cuda(facts, framework), "gpu-not-used"};
  const bool others = any_for_cuda(facts.python);
  say.add("framework", others ? Fit::kDoubtful : Fit::kWrong, found + ", beside a GPU", advice);
}

void judge_driver(const MachineFacts& facts, const InstalledFramework& framework, Say& say) {
  const std::string both = fmt::format(
      "{} was built for CUDA {}; driver {} is for CUDA up to {}.{}", name_of(framework),
      framework.cuda, facts.gpu.driver, facts.gpu.cuda / 1000, facts.gpu.cuda % 1000 / 10);
  const std::string update =
      "update NVIDIA's driver, or install a build of the framework for an older CUDA";
  switch (driver_fit(facts.gpu.cuda, framework.cuda)) {
    case DriverFit::kTooOld:
      return say.wrong(
          "framework-driver", both,
          {"the driver is too old for it: no GPU can be used", update, "cuda-version-mismatch"});
    case DriverFit::kOlderMinor:
      return say.doubtful("framework-driver", both,
                          {"it runs by CUDA's compatibility within a major version, but cannot "
                           "compile code for the GPU while it runs (torch.compile, XLA, Triton)",
                           update, "cuda-version-mismatch"});
    case DriverFit::kUnknown:
      return say.not_seen(
          "framework-driver",
          name_of(framework) + ": whether the driver is new enough is not known",
          {"its files or the driver do not tell the version of CUDA",
           "compare the driver with the framework's installation page", "cuda-version-mismatch"});
    case DriverFit::kFits: return;
  }
}

std::string kernels_text(const InstalledFramework& framework) {
  std::string out;
  for (const int each : framework.kernels)
    out += fmt::format("{}{}.{}", out.empty() ? "" : ", ", each / 10, each % 10);
  return out;
}

void judge_kernels(const MachineFacts& facts, const InstalledFramework& framework, Say& say) {
  for (const size_t index : visible_gpus(facts.gpu).shown) {
    const InstalledGpu& gpu = facts.gpu.gpus[index];
    const std::string found = fmt::format(
        "{} has code for compute capability {}; GPU {} ({}) is {}.{}", name_of(framework),
        kernels_text(framework), index, gpu.name, gpu.capability / 10, gpu.capability % 10);
    const KernelFit fit = kernel_fit(framework, gpu.capability);
    if (fit == KernelFit::kMissing)
      return say.wrong("framework-kernels", found,
                       {"it fails with: no kernel image is available for execution on the device",
                        "install a build that knows this GPU: a newer one for a newer GPU, an "
                        "older one for an older GPU",
                        "cuda-version-mismatch"});
    if (fit == KernelFit::kTranslated)
      return say.doubtful("framework-kernels", found,
                          {"the driver translates its code when it is first used: the first step "
                           "can take many minutes",
                           "install a newer build that knows this GPU", "ptx-jit"});
  }
}

void judge_keras(const MachineFacts& facts, const InstalledFramework& keras, Say& say) {
  const PythonFacts& python = facts.python;
  if (major_of(keras.version) < 3) return say.good("framework", name_of(keras));
  const std::string backend = python.keras_backend.empty() ? "tensorflow" : python.keras_backend;
  const std::string package = backend == "torch" ? "torch" : backend == "jax" ? "jax" : backend;
  const bool there = std::any_of(
      python.frameworks.begin(), python.frameworks.end(), [&](const InstalledFramework& each) {
        return each.package == package || (package == "tensorflow" && each.name == "TensorFlow");
      });
  const std::string found = fmt::format("{} on {}", name_of(keras), backend);
  if (there || backend == "numpy" || backend == "openvino") return say.good("framework", found);
  say.wrong("framework", found + ", which is not installed",
            {"`import keras` fails, or takes a backend that you did not mean",
             fmt::format("{} install {}, or choose one that is installed: export "
                         "KERAS_BACKEND=torch (or jax, tensorflow)",
                         pip_of(python), package)});
}

void judge_numpy(const PythonFacts& python, Say& say) {
  if (!python.numpy) return;
  const std::string found =
      fmt::format("{} multiplies matrices with {}", python.numpy->user, python.numpy->library);
  if (!python.numpy->reference)
    return say.not_seen("numpy-blas", found + ", which cannot be read",
                        {"if it is the plain BLAS, products of matrices are ten times slower",
                         "see what it is: ls -l " + python.numpy->library, "reference-blas"});
  if (!*python.numpy->reference) return say.good("numpy-blas", found);
  say.doubtful("numpy-blas", found + ", the plain BLAS",
               {"it uses one core and no vector instructions: ten times slower and more",
                "apt-get install libopenblas0 (and take its folder out of LD_LIBRARY_PATH), or "
                "pip's NumPy in a virtual environment: it brings OpenBLAS",
                "reference-blas"});
}

void judge_python(const PythonFacts& python, Say& say) {
  if (!python.trouble.empty())
    return say.not_seen("python", python.trouble,
                        {"frameworks and modules of this Python are not known",
                         "name the Python that you train with: headway check --python PROGRAM"});
  if (python.program.empty())
    return say.not_seen("python", "there is no python3 on the PATH",
                        {"frameworks of a Python elsewhere are not known",
                         "if you train with one, name it: headway check --python PROGRAM"});
  const std::string found =
      fmt::format("Python {} ({}, by {})", python.version, python.program, python.chosen_by);
  if (python.on_path.empty()) return say.good("python", found);
  say.doubtful("python",
               fmt::format("{} says {}, but `python3` on the PATH is {}", python.chosen_by,
                           python.program, python.on_path),
               {"a command that says python3 takes the other one, with other packages",
                "activate the environment again in this shell, or name its Python in full"});
}

}  // namespace

void judge_frameworks(const MachineFacts& facts, CheckLines& lines) {
  const PythonFacts& python = facts.python;
  Say say(CheckTopic::kPython, lines);
  judge_python(python, say);
  for (const InstalledFramework& each : python.frameworks) {
    if (each.name == "Keras") {
      judge_keras(facts, each, say);
      continue;
    }
    const bool has_builds =
        each.name == "PyTorch" || each.name == "TensorFlow" || each.name == "JAX";
    if (!has_builds) {
      say.good("framework", name_of(each));
      continue;
    }
    judge_build(facts, each, say);
    if (each.build != FrameworkBuild::kCuda || facts.gpu.gpus.empty()) continue;
    judge_driver(facts, each, say);
    judge_kernels(facts, each, say);
  }
  if (python.tensorflow_packages.size() > 1)
    say.doubtful(
        "framework-twice",
        fmt::format("{} and {} are both installed", python.tensorflow_packages[0],
                    python.tensorflow_packages[1]),
        {"they write the same files: which build is there depends on the order in which "
         "they were installed",
         fmt::format("{0} uninstall -y {1} {2}, then {0} install the one that you want",
                     pip_of(python), python.tensorflow_packages[0], python.tensorflow_packages[1]),
         "gpu-not-used"});
  judge_numpy(python, say);
}

}  // namespace headway
