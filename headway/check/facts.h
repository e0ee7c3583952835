#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headway/trace/nvml.h"
#include "headway/trace/outside.h"

// What `headway check` has read of the machine, without judging it. What could not be read is an
// empty optional, or a text that says why.
namespace headway {

struct GpuFacts {
  NvmlState nvml = NvmlState::kNoLibrary;
  int nvml_error = 0;
  std::string driver{};  // "550.54.15", as NVML says
  int cuda = 0;          // the newest CUDA that the driver supports: 12040
  std::vector<InstalledGpu> gpus{};
  bool cuda_library = false;    // libcuda.so.1: the part of the driver that computes
  std::string kernel_module{};  // the version of the NVIDIA module that is loaded; empty: none
  int64_t on_bus = 0;           // NVIDIA GPUs on the PCI bus, whether usable or not
  bool device_files = false;    // /dev/nvidia0 or a higher number exists
  std::optional<std::string> visible{};  // CUDA_VISIBLE_DEVICES
};

struct CoreFacts {
  int64_t online = 1;   // cores of the machine
  int64_t allowed = 1;  // ... on which this process may run
  double usable = 1;    // cores' worth of time: cut by affinity and quota
  bool quota = false;
  bool groups_seen = false;                      // the cgroups of this process could be read
  std::vector<SeenThreadSetting> settings{};     // of the environment
  std::map<std::string, std::string> invalid{};  // ... whose value is no number of threads
};

struct MemoryFacts {
  int64_t total_bytes = 0, available_bytes = 0;
  int64_t limit_bytes = 0;  // of the cgroups; 0: none
  int64_t swap_bytes = 0, swap_used_bytes = 0;
  std::optional<int64_t> shm_bytes{}, shm_free_bytes{};  // /dev/shm
  // ulimit -n, -v, -u; nullopt: unlimited.
  std::optional<int64_t> open_files{}, open_files_hard{}, address_bytes{}, processes{};
  bool container = false;
};

// A library, and the file that the dynamic loader would take for it; empty: it finds none.
struct LoadedLibrary {
  std::string name{}, path{};
};

// A copy of a library of CUDA's.
struct CudaLibrary {
  enum class From : uint8_t { kPath, kWheel, kConda, kSystem };  // kPath: LD_LIBRARY_PATH
  std::string family{};                                          // "cudart", "cublas", "cudnn"
  std::string path{}, name{};                                    // name: "libcudnn.so.9"
  std::string real{};                                            // its path without links
  // As exactly as files and packages tell: "9.1.0.70", "9"; empty: not known.
  std::string version{};
  std::string inner_name{};  // the name that the file gives itself; empty: none
  bool is_library = true;    // false: it was read, and is no library for this machine
  From from = From::kSystem;
};

enum class FrameworkBuild : uint8_t { kUnknown, kCpu, kCuda, kOther };  // kOther: ROCm ...

struct InstalledFramework {
  std::string name{}, package{};  // "PyTorch", "torch"
  std::string version{}, folder{};
  FrameworkBuild build = FrameworkBuild::kUnknown;
  std::string cuda{}, cudnn{};  // versions it was built with: "12.4", "9.1.0.70"; empty: not known
  std::vector<int> kernels{};   // GPUs it has code for: 75, 80, 90; empty: not known
  int ptx = 0;                  // ... and for that one in a form that newer ones can translate
  std::vector<LoadedLibrary> libraries{};  // of CUDA's, as its own would load them; real paths
};

// The BLAS that a program multiplies its matrices with.
struct BlasFacts {
  std::string user{};  // "NumPy 1.24.2", "headway train"
  std::string library{};
  std::optional<bool> reference{};  // it is the plain one; nullopt: it could not be read
};

struct PythonFacts {
  std::string program{};                // empty: there is none
  std::string chosen_by{};              // "--python", "VIRTUAL_ENV", "CONDA_PREFIX", "PATH"
  std::string on_path{};                // `python3` of the PATH, where another one was chosen
  std::string trouble{};                // why it could not be asked
  std::string version{};                // "3.11.2"
  std::vector<std::string> folders{};   // sys.path as a program would have it
  std::vector<std::string> standard{};  // names of its own modules; empty before 3.10
  std::map<std::string, std::string> packages{};  // name -> version; names in lower case
  std::vector<InstalledFramework> frameworks{};
  std::optional<BlasFacts> numpy{};
  std::string keras_backend{};                     // chosen by KERAS_BACKEND or keras.json
  std::vector<std::string> tensorflow_packages{};  // that hold the same files
};

struct OwnTrainerFacts {
  bool found = false;  // headway-train beside headway
  std::string path{};
  std::optional<std::vector<LoadedLibrary>> libraries{};  // nullopt: the loader could not be asked
  std::string trouble{};                                  // ... or could not load it
  bool cuda = false;                                      // its libtorch is a build for CUDA
  std::optional<BlasFacts> blas{};
};

struct DiskFacts {
  std::string path{};
  bool there = false;
  std::string trouble{};      // why nothing can be said
  std::string file_system{};  // "ext4", "nfs"
  bool network = false, in_memory = false;
  int64_t free_bytes = 0, total_bytes = 0;
  std::optional<int64_t> free_inodes{};  // nullopt: the file system does not count them
  bool writable = false;
};

// How fast the data folder was read, by one reader.
struct DiskSpeed {
  std::string trouble{};         // why it was not measured
  double large_bytes_per_s = 0;  // long reads, front to back; 0: not measured
  double small_reads_per_s = 0;  // reads of small_bytes at places drawn by lot; 0: not measured
  int64_t small_bytes = 0;       // of one small read, in the mean
  int64_t files = 0;             // that were read; 0: a file of our own
  bool past_cache = false;       // the page cache was avoided
};

struct PermissionFacts {
  bool seen = false;  // what follows could be read
  std::string
      perf_refused{};       // why native code cannot be sampled, and what allows it; empty: it can
  int ptrace_scope = 0;     // of Yama; 0: off, or no Yama
  bool may_ptrace = false;  // CAP_SYS_PTRACE
};

// What a script says that it needs, by its text alone.
struct ScriptNeed {
  std::string what{};  // a module, a path
  int64_t line = 0;
  std::string file{};
  bool maybe = false;  // in a try, behind a test or in a function: not in every run
};
struct ScriptFacts {
  std::string path{};
  std::string trouble{};
  std::vector<ScriptNeed> modules{};  // imports that neither Python nor its folder has
  std::vector<ScriptNeed> missing_paths{};
  int64_t gpu_line = 0;           // asks for a GPU
  bool gpu_asked_first = false;   // ... only after it has asked whether one is there
  int64_t highest_gpu = -1;       // the highest number of a GPU it names, or how many, less one
  int64_t hides_gpus_line = 0;    // sets CUDA_VISIBLE_DEVICES to what hides all
  int64_t late_visible_line = 0;  // sets it after a framework is imported
  int64_t workers = 0, workers_line = 0;  // num_workers of a DataLoader
  int64_t batch = 0, batch_line = 0;
  std::vector<SeenThreadSetting> settings{};  // thread counts that it sets, each with its line
};

struct MachineFacts {
  GpuFacts gpu{};
  CoreFacts cores{};
  MemoryFacts memory{};
  std::vector<CudaLibrary> cuda_libraries{};  // in the order in which they are searched for
  PythonFacts python{};
  OwnTrainerFacts own_trainer{};
  DiskFacts disk{};
  std::optional<DiskSpeed> speed{};  // nullopt: it was not asked for
  PermissionFacts permissions{};
  std::optional<ScriptFacts> script{};
};

}  // namespace headway
