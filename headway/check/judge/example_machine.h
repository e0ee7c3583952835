#pragma once

#include <algorithm>
#include <string>

#include "headway/check/judge/judge.h"

// Machines for tests.
namespace headway::testing {

inline InstalledFramework torch_for_cuda() {
  return {.name = "PyTorch",
          .package = "torch",
          .version = "2.5.1+cu124",
          .build = FrameworkBuild::kCuda,
          .cuda = "12.4",
          .cudnn = "9.1.0.70",
          .kernels = {50, 60, 70, 75, 80, 86, 90},
          .libraries = {{"libcudnn.so.9", "/py/nvidia/cudnn/lib/libcudnn.so.9"},
                        {"libcudart.so.12", "/py/nvidia/cuda_runtime/lib/libcudart.so.12"}}};
}

inline InstalledFramework torch_for_cpu() {
  return {
      .name = "PyTorch", .package = "torch", .version = "2.5.1+cpu", .build = FrameworkBuild::kCpu};
}

inline CudaLibrary cudnn(const std::string& path, const std::string& version,
                         CudaLibrary::From from) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return {.family = "cudnn",
          .path = path,
          .name = name,
          .real = path,
          .version = version,
          .inner_name = name,
          .from = from};
}

inline CudaLibrary cudart(const std::string& path) {
  CudaLibrary out = cudnn(path, "12.4.127", CudaLibrary::From::kWheel);
  out.family = "cudart";
  return out;
}

// Nothing is wrong or doubtful with it.
inline MachineFacts good_machine() {
  constexpr int64_t kGB = 1'000'000'000;
  MachineFacts out;
  out.gpu = {.nvml = NvmlState::kAnswers,
             .driver = "550.54.15",
             .cuda = 12040,
             .gpus = {{.name = "NVIDIA H200",
                       .uuid = "GPU-11aa",
                       .memory_bytes = 140 * kGB,
                       .capability = 90},
                      {.name = "NVIDIA H200",
                       .uuid = "GPU-22bb",
                       .memory_bytes = 140 * kGB,
                       .capability = 90}},
             .cuda_library = true,
             .kernel_module = "550.54.15",
             .on_bus = 2,
             .device_files = true};
  out.cores = {.online = 16, .allowed = 16, .usable = 16, .groups_seen = true};
  out.memory = {.total_bytes = 256 * kGB,
                .available_bytes = 200 * kGB,
                .shm_bytes = 128 * kGB,
                .shm_free_bytes = 128 * kGB,
                .open_files = 1024,
                .open_files_hard = 524288};
  out.python.program = "/py/bin/python", out.python.chosen_by = "VIRTUAL_ENV";
  out.python.version = "3.11.7";
  out.python.frameworks = {torch_for_cuda()};
  out.cuda_libraries = {
      cudnn("/py/nvidia/cudnn/lib/libcudnn.so.9", "9.1.0.70", CudaLibrary::From::kWheel),
      cudart("/py/nvidia/cuda_runtime/lib/libcudart.so.12")};
  out.own_trainer = {.found = true, .path = "/bin/headway-train", .cuda = true};
  out.own_trainer.libraries.emplace({LoadedLibrary{"libtorch.so", "/lib/libtorch.so"}});
  out.disk = {.path = "photos",
              .there = true,
              .file_system = "ext4",
              .free_bytes = 900 * kGB,
              .total_bytes = 1000 * kGB,
              .writable = true};
  out.speed = {.large_bytes_per_s = 2e9,
               .small_reads_per_s = 9000,
               .small_bytes = 65536,
               .files = 100,
               .past_cache = true};
  out.permissions = {.seen = true, .may_ptrace = true};
  return out;
}

// The worst line with this id; one that is called good where there is none.
inline CheckLine line_of(const MachineFacts& facts, const std::string& id) {
  const CheckLines lines = judge(facts);
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const CheckLine& each) { return each.id == id; });
  return found == lines.end() ? CheckLine{.found = "no line " + id} : *found;
}
inline Fit fit_of(const MachineFacts& facts, const std::string& id) {
  return line_of(facts, id).fit;
}
inline bool says(const CheckLine& line, const std::string& text) {
  return (line.found + "\n" + line.why + "\n" + line.remedy).find(text) != std::string::npos;
}

}  // namespace headway::testing
