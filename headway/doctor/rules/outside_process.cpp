#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/outside.h"
#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr double kStillS = 7;
constexpr double kIdle = 0.05;        // cores
constexpr double kBeforeS = 1;        // processes are counted twice a second
constexpr double kCrowded = 0.4;      // of the ready time, without a core
constexpr double kManyPerCore = 2.0;  // threads that really run
constexpr double kGpuAfterS = 15;
constexpr double kOneCore = 0.7;  // used or waited for: it would use more if it could

using E = OutsideEvidence;

const std::string* remark(const E& e, Remark kind) {
  for (const SeenRemark& said : e.seen.output.remarks)
    if (said.kind == kind) return &said.text;
  return nullptr;
}

bool raised(const E& e, Remark kind) { return e.seen.output.exception_kind == kind; }

std::string raised_where(const E& e) {
  return e.seen.output.raised_at.line > 0 ? place_text(e.seen.output.raised_at) : "";
}

std::string said_or_raised(const E& e, const std::string* said) {
  return said ? *said : e.seen.output.exception;
}

}  // namespace

std::optional<Finding> shared_memory(const E& e) {
  const std::string* said = remark(e, Remark::kSharedMemory);
  const bool full = e.seen.shm_free_bytes >= 0 && e.seen.shm_bytes > 0 &&
                    e.seen.shm_free_bytes < e.seen.shm_bytes / 50;
  if (!said && !(full && e.workers() > 0)) return std::nullopt;
  return Finding{
      .cause = Cause::kSharedMemoryTooSmall,
      .severity = Severity::kCritical,
      .confidence = said ? 0.9 : 0.75,
      .summary = "shared memory (/dev/shm), through which workers send batches, is full",
      .evidence = {said ? *said : "no error: writers wait or die by SIGBUS",
                   fmt::format("/dev/shm: {} free of {}", size_text(double(e.seen.shm_free_bytes)),
                               size_text(double(e.seen.shm_bytes)))},
      .where = "/dev/shm",
      .fix =
          "give the container more (docker run --shm-size=8g or --ipc=host), or use fewer workers "
          "or a smaller prefetch_factor"};
}

namespace {

// A pool's parent waits for a result while all its workers wait for a task: the task was lost with
// a worker that has died, whether its death was seen or not.
bool task_is_lost(const E& e) {
  const SeenProcess* main = e.main();
  if (!main || !main->waits_for_worker) return false;
  int64_t idle = 0;
  for (const SeenProcess& p : e.seen.processes) {
    if (p.role != Role::kWorker || !p.there()) continue;
    if (!p.waits_for_task || p.cores >= kIdle) return false;
    ++idle;
  }
  return idle > 0;
}

}  // namespace

// A worker that should exist is gone, and another process may be waiting for it.
std::optional<Finding> worker_died(const E& e) {
  const std::string* said = remark(e, Remark::kWorkerDied);
  const SeenProcess* dead = nullptr;
  int64_t silent = 0;
  for (const SeenProcess& p : e.seen.processes) {
    if (p.role != Role::kWorker) continue;
    // A worker that went before the present wait began has nothing to do with it.
    if (p.at_s < e.seen.at_s - e.seen.main_still_s - kBeforeS) continue;
    if (!p.ending.empty()) dead = &p;
    silent += p.ending.empty() && p.state == TaskState::kGone && p.at_s > 0;
  }
  const SeenProcess* main = e.main();
  const bool waits = main && e.running() && e.seen.main_still_s >= kStillS && main->cores < 0.05 &&
                     e.seen.cores < 0.1;
  const bool shares_work = main && main->waits_for_worker;
  const bool lost = waits && task_is_lost(e);
  if (!said && !raised(e, Remark::kWorkerDied) && !(dead && waits) &&
      !(silent > 0 && waits && shares_work && !worker_deadlock(e)) && !lost)
    return std::nullopt;
  Finding f{.cause = Cause::kWorkerDied,
            .severity = Severity::kCritical,
            .confidence = said || dead ? 0.9 : 0.7,
            .summary = "a worker process died, and the training waits for what it will never send",
            .fix =
                "look at why: memory (dmesg, the container's limit), a crash in a native library; "
                "DataLoader(timeout=60) makes it an error instead of a hang"};
  if (said) f.evidence.push_back(*said);
  if (dead)
    f.evidence.push_back(fmt::format("worker {}: {}, it held {}", dead->pid, dead->ending,
                                     size_text(double(dead->rss_bytes))));
  if (!dead && silent > 0) f.evidence.push_back(fmt::format("{} workers are gone", silent));
  if (lost)
    f.evidence.push_back("the pool waits for a result while all its workers wait for a task");
  if (waits)
    f.evidence.push_back(
        fmt::format("nothing has moved for {}", duration_text(e.seen.main_still_s)));
  if (main) {
    for (const SeenFrame& frame : main->stack) {
      if (!frame.users) continue;
      f.where = place_text(frame);
      break;
    }
  }
  if (f.where.empty()) f.where = raised_where(e);
  return f;
}

std::optional<Finding> not_picklable(const E& e) {
  const std::string* said = remark(e, Remark::kNotPicklable);
  if (!said && !raised(e, Remark::kNotPicklable)) return std::nullopt;
  return Finding{
      .cause = Cause::kLoaderNotPicklable,
      .severity = Severity::kCritical,
      .confidence = 0.95,
      .summary =
          "an object that must be sent to the worker processes cannot be pickled (turned "
          "into bytes)",
      .evidence = {said_or_raised(e, said)},
      .where = raised_where(e),
      .fix =
          "create files, locks and generators inside the worker (in __getitem__ or "
          "worker_init_fn), and use functions at the top of a module instead of lambdas"};
}

std::optional<Finding> out_of_memory(const E& e) {
  const bool gpu = raised(e, Remark::kGpuOutOfMemory) || remark(e, Remark::kGpuOutOfMemory);
  const std::string* said = remark(e, gpu ? Remark::kGpuOutOfMemory : Remark::kOutOfMemory);
  if (!said) said = remark(e, Remark::kLargeAllocation);
  const bool error = raised(e, Remark::kOutOfMemory) || raised(e, Remark::kGpuOutOfMemory);
  const bool killed = e.seen.exit_status == 137;
  if (!error && !(killed && said)) return std::nullopt;
  return Finding{
      .cause = gpu ? Cause::kGpuOutOfMemory : Cause::kModelTooLarge,
      .severity = Severity::kCritical,
      .confidence = 0.85,
      .summary = gpu ? "the GPU ran out of memory" : "the machine ran out of memory",
      .evidence = {error ? e.seen.output.exception : *said},
      .where = raised_where(e),
      .fix =
          gpu ? "use a smaller batch, gradient accumulation or mixed precision"
              : "use smaller layers or a smaller batch; with Adam, each parameter needs 16 bytes"};
}

std::optional<Finding> gradient_not_connected(const E& e) {
  const std::string* said = remark(e, Remark::kGradientsDoNotExist);
  if (!said && !raised(e, Remark::kGradientsDoNotExist)) return std::nullopt;
  return Finding{.cause = Cause::kGradientNotConnected,
                 .severity = Severity::kHigh,
                 .confidence = 0.95,
                 .summary = "the loss does not reach some of the weights: they are never trained",
                 .evidence = {said_or_raised(e, said)},
                 .where = raised_where(e),
                 .fix =
                     "look for .numpy(), .item() or .detach() before the loss, or a layer that the "
                     "loss does not use"};
}

// PyTorch's own warning: output (n, 1) and labels (n) give n x n differences.
std::optional<Finding> loss_broadcasts(const E& e) {
  const std::string* said = remark(e, Remark::kBroadcasts);
  if (!said) return std::nullopt;
  return Finding{
      .cause = Cause::kLossOutputMismatch,
      .severity = Severity::kHigh,
      .confidence = 0.95,
      .summary =
          "predictions and targets have different shapes: every prediction is compared with "
          "every target",
      .evidence = {*said},
      .where = e.seen.positive_loss_at.line > 0 ? place_text(e.seen.positive_loss_at) : "",
      .fix = "give both the same shape: model(x).squeeze(-1), or targets.unsqueeze(-1)"};
}

std::optional<Finding> cuda_mismatch(const E& e) {
  const std::string* said = remark(e, Remark::kCudaProblem);
  const bool error = raised(e, Remark::kCudaProblem);
  const bool meant = error || (said && !e.seen.gpus.empty());
  if (!meant) return std::nullopt;
  return Finding{
      .cause = Cause::kCudaVersionMismatch,
      .severity = Severity::kHigh,
      .confidence = 0.9,
      .summary = "the GPU driver, CUDA and the framework do not fit together",
      .evidence = {said_or_raised(e, said)},
      .where = raised_where(e),
      .fix =
          "install the framework's build for the CUDA version of this driver (`nvidia-smi` "
          "shows it), or a newer driver"};
}

std::optional<Finding> limits_or_disk_full(const E& e) {
  constexpr double kNearly = 0.95;
  const auto open = double(e.seen.open_files), most = double(e.seen.open_files_limit);
  if (e.running() && most > 0 && open >= kNearly * most) {
    const HotLine hot = e.hottest(on_main, true);
    return Finding{
        .cause = Cause::kLimitsOrDiskFull,
        .severity = Severity::kCritical,
        .confidence = 0.85,
        .summary =
            fmt::format("the process has {:.0f} files open, and the limit is {:.0f}", open, most),
        .evidence = {"the next one is refused: \"Too many open files\""},
        .where = hot.frame ? place_text(*hot.frame) : "",
        .fix =
            "close files after use (`with open(...)`), or raise the limit in the shell that "
            "starts the training: ulimit -n 65536"};
  }
  const std::string* said = remark(e, Remark::kDiskFull);
  if (!said) said = remark(e, Remark::kTooManyFiles);
  if (!said && !raised(e, Remark::kDiskFull) && !raised(e, Remark::kTooManyFiles))
    return std::nullopt;
  const bool disk = remark(e, Remark::kDiskFull) || (!said && raised(e, Remark::kDiskFull));
  return Finding{
      .cause = Cause::kLimitsOrDiskFull,
      .severity = Severity::kCritical,
      .confidence = 0.9,
      .summary = disk ? "the disk is full, or the user's disk quota is used up"
                      : "the process has reached the limit on open files",
      .evidence = {said_or_raised(e, said)},
      .where = raised_where(e),
      .fix = disk ? "free disk space (`df -h` shows which disk is full, `quota` your quota), or "
                    "write to another disk"
                  : "close files after use (`with open(...)`), or raise the limit in the shell "
                    "that starts the training: ulimit -n 65536"};
}

std::optional<Finding> gpu_not_used(const E& e) {
  if (e.seen.gpus.empty() || !e.training() || e.training_s() < kGpuAfterS) return std::nullopt;
  for (const SeenGpu& gpu : e.seen.gpus)
    if (gpu.used) return std::nullopt;
  return Finding{
      .cause = Cause::kGpuNotUsed,
      .severity = Severity::kHigh,
      .confidence = 0.8,
      .summary =
          fmt::format("{} is available, but the training does not use it", e.seen.gpus[0].name),
      .evidence = {fmt::format("no process of the run holds memory on it; {:.2f} cores are busy",
                               e.seen.cores),
                   e.seen.cuda_libraries.empty() ? "no CUDA library is loaded"
                                                 : e.seen.cuda_libraries[0] + " is loaded"},
      .where = "device",
      .fix =
          "install the framework's CUDA build and check CUDA_VISIBLE_DEVICES; in PyTorch, move the "
          "model and the batches to the GPU (model.to(\"cuda\"))"};
}

std::optional<Finding> single_core(const E& e) {
  const double cores = double(e.trace.run.machine_cores);
  if (e.seen.cpus_allowed != 1 || cores < 2 || e.seen.at_s < 5) return std::nullopt;
  if (e.seen.wanted_cores < kOneCore && e.running()) return std::nullopt;
  return Finding{.cause = Cause::kSingleCoreAffinity,
                 .severity = Severity::kWarning,
                 .confidence = 0.85,
                 .summary = "the process is allowed to use only one core",
                 .evidence = {fmt::format("{:.2f} cores used of {:.0f}", e.seen.cores, cores)},
                 .where = "CPU affinity",
                 .fix =
                     "start it without `taskset`, and remove calls of os.sched_setaffinity from "
                     "the program"};
}

namespace {

// Workers or ranks that each compute with as many threads as there are cores, or
// more.
std::optional<Finding> workers_oversubscribe(const E& e) {
  int64_t all = 0, most = 0, processes = 0, full = 0;
  const auto& there = e.seen.processes;
  const bool ranks = std::any_of(there.begin(), there.end(),
                                 [](const SeenProcess& p) { return p.role == Role::kRank; });
  for (const SeenProcess& p : there) {
    if (!p.there() || p.wanting == 0) continue;
    ++processes, all += p.wanting;
    if (p.role == Role::kMain && !ranks) continue;  // it may train with all cores
    most = std::max(most, p.wanting);
    full += double(p.wanting) >= e.cpus();  // would fill the machine by itself
  }
  // Trainings side by side, each using all cores, wait for each other in every operation.
  const double many = full >= 2 && (ranks || e.workers_train()) ? kManyPerCore : 2 * kManyPerCore;
  if (e.seen.ready_share < kCrowded || double(most) < e.cpus() || double(all) < many * e.cpus() ||
      e.seen.wanted_cores < many / 2 * e.cpus())
    return std::nullopt;
  return Finding{
      .cause = Cause::kThreadOversubscription,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary = fmt::format("{} threads of {} processes share {:.3g} cores and get in each "
                             "other's way",
                             all, processes, e.cpus()),
      .evidence = {fmt::format(
          "up to {} threads in one process want a core; ready threads had none "
          "{:.0f}% of their time",
          most, 100 * e.seen.ready_share)},
      .where = ranks ? "threads of each process" : "threads of the workers",
      .fix =
          "use one thread per process: set OMP_NUM_THREADS=1 before they start, or call "
          "threadpoolctl.threadpool_limits(1) or torch.set_num_threads(1) in them"};
}

}  // namespace

std::optional<Finding> thread_oversubscription(const E& e) {
  if (e.seen.at_s < 8) return std::nullopt;
  if (e.workers() > 0 || e.ranks() > 0) return workers_oversubscribe(e);
  if (!e.training()) return std::nullopt;
  int64_t busy = 0;
  std::string names;
  for (const SeenThreads& group : e.seen.threads) {
    if (group.count < 4 || group.cores < 0.2) continue;
    busy += group.count;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", group.count, group.name);
  }
  if (e.seen.ready_share < kCrowded || double(busy) < 2 * kManyPerCore * e.cpus() ||
      e.seen.wanted_cores < kManyPerCore * e.cpus())
    return std::nullopt;
  return Finding{
      .cause = Cause::kThreadOversubscription,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary =
          fmt::format("{} threads share {:.3g} cores and get in each other's way", busy, e.cpus()),
      .evidence = {fmt::format("they would use {:.1f} cores; ready threads had none {:.0f}% of "
                               "their time",
                               e.seen.wanted_cores, 100 * e.seen.ready_share),
                   names},
      .where = "threads of the main process",
      .fix =
          "use as many threads as there are cores: set OMP_NUM_THREADS before the start, or call "
          "torch.set_num_threads or tf.config.threading.set_intra_op_parallelism_threads"};
}

}  // namespace headway
