#include "headway/probe/native/cpu_sampler.h"

#include <asm/perf_regs.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "headway/core/clock.h"
#include "headway/probe/native/dwarf_cursor.h"
#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

constexpr size_t kPage = 4096, kRingPages = 64;  // one more page for its head
constexpr uint32_t kStackBytes = 16 << 10;
constexpr size_t kMostEvents = 16'384;  // each one is an open file
constexpr size_t kFilesForOthers = 512;
constexpr size_t kMostCores = 256;
constexpr size_t kWhoseAt = 8;  // in a hit: after its place

// The kernel's names of registers, in the order of DWARF's numbers.
constexpr int kRegisterNames[kRegisters] = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
    PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
    PERF_REG_X86_R15, PERF_REG_X86_IP};

uint64_t register_mask() {
  uint64_t out = 0;
  for (const int name : kRegisterNames) out |= uint64_t{1} << name;
  return out;
}

perf_event_attr attributes(bool kernel_too) {
  perf_event_attr out{};
  out.size = sizeof out;
  out.type = PERF_TYPE_SOFTWARE;
  out.config = PERF_COUNT_SW_CPU_CLOCK;
  out.sample_type =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  out.sample_regs_user = register_mask();
  out.sample_stack_user = kStackBytes;
  out.exclude_kernel = !kernel_too;
  out.exclude_hv = 1, out.exclude_idle = 1;
  return out;
}

Descriptor open_event(perf_event_attr& attributes, pid_t thread, int cpu) {
  return Descriptor(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, cpu, -1,
                                               static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC))));
}

// How many of these files we may open; raises the limit if possible.
size_t files_to_be_opened(size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  const rlim_t enough = wanted + kFilesForOthers;
  if (files.rlim_cur < enough) {
    files.rlim_cur = std::min(files.rlim_max, enough);
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::getrlimit(RLIMIT_NOFILE, &files);
  }
  return std::min<size_t>(wanted,
                          files.rlim_cur - std::min<rlim_t>(files.rlim_cur, kFilesForOthers));
}

std::string refusal(int error) {
  const std::string level = file_text("/proc/sys/kernel/perf_event_paranoid", 16);
  const int paranoid = level.empty() ? 4 : std::atoi(level.c_str());
  if (error == EACCES || error == EPERM) {
    if (paranoid > 2)
      return fmt::format(
          "the kernel lets only root sample native code (perf_event_paranoid is {}); "
          "to allow it: sudo sysctl kernel.perf_event_paranoid=2",
          paranoid);
    return "perf_event_open is refused: by a container's seccomp filter (docker run --cap-add "
           "PERFMON "
           "--security-opt seccomp=unconfined allows it), or too many such watchers run already";
  }
  if (error == ENOSYS || error == ENOENT) return "this kernel has no perf_event_open";
  return fmt::format("perf_event_open failed: {}", std::strerror(error));
}

}  // namespace

CpuSampler::~CpuSampler() {
  for (Ring& ring : rings_)
    if (ring.memory) ::munmap(ring.memory, (kRingPages + 1) * kPage);
}

// `thread` -1: everything that runs on this core.
bool CpuSampler::open_ring(size_t cpu, pid_t thread) {
  perf_event_attr wanted = attributes(kernel_too_);
  wanted.sample_period = static_cast<uint64_t>(period_ns_);
  if (thread >= 0) {  // others write to its ring: this event never happens
    wanted = {};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_SOFTWARE, wanted.config = PERF_COUNT_SW_DUMMY;
    wanted.exclude_kernel = 1;
  }
  Ring ring{open_event(wanted, thread, static_cast<int>(cpu)), static_cast<int>(cpu)};
  if (!ring.event.open()) return false;
  void* memory = ::mmap(nullptr, (kRingPages + 1) * kPage, PROT_READ | PROT_WRITE, MAP_SHARED,
                        ring.event.get(), 0);
  if (memory == MAP_FAILED) return false;
  ring.memory = static_cast<char*>(memory);
  rings_.push_back(std::move(ring));
  return true;
}

std::unique_ptr<CpuSampler> CpuSampler::open(double hertz, std::string& why_not) {
  auto out = std::unique_ptr<CpuSampler>(new CpuSampler(hertz, static_cast<uint64_t>(now_ns())));
  const auto cores = static_cast<size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
  if (cores > kMostCores) {
    why_not = fmt::format("{} cores are too many to sample", cores);
    return nullptr;
  }
  const auto open_all = [&](pid_t thread) {
    size_t opened = 0;
    int error = 0;
    for (size_t cpu = 0; cpu < cores; ++cpu) {
      if (out->open_ring(cpu, thread)) ++opened;
      else if (errno != ENODEV && errno != EINVAL) error = errno;  // the core is switched off
    }
    return opened > 0 && error == 0 ? 0 : error != 0 ? error : ENOENT;
  };
  if (open_all(-1) == 0) {
    out->sees_all_ = true;
    return out;
  }
  for (Ring& ring : out->rings_)
    if (ring.memory) ::munmap(ring.memory, (kRingPages + 1) * kPage);
  out->rings_.clear();
  // May we open events, with the kernel's part or without?
  for (const bool kernel_too : {true, false}) {
    out->kernel_too_ = kernel_too;
    perf_event_attr wanted = attributes(kernel_too);
    wanted.sample_period = static_cast<uint64_t>(out->period_ns_);
    const Descriptor tried = open_event(wanted, 0, -1);
    if (!tried.open()) {
      why_not = refusal(errno);
      continue;
    }
    why_not.clear();
    break;
  }
  if (!why_not.empty()) return nullptr;
  if (const int error = open_all(0); error != 0) {
    why_not = refusal(error);
    return nullptr;
  }
  return out;
}

// An inherited event: only by threads if the kernel supports that (5.13), else also by child
// processes, whose hits are skipped.
Descriptor CpuSampler::open_follower(pid_t thread, const Ring& ring) const {
  perf_event_attr wanted = attributes(kernel_too_);
  wanted.sample_period = static_cast<uint64_t>(period_ns_);
  wanted.inherit = 1, wanted.inherit_thread = 1;
  Descriptor event = open_event(wanted, thread, ring.core);
  if (!event.open() && (errno == EINVAL || errno == E2BIG)) {
    wanted.inherit_thread = 0;
    event = open_event(wanted, thread, ring.core);
  }
  const bool joined =
      event.open() && ::ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, ring.event.get()) == 0;
  return joined ? std::move(event) : Descriptor();
}

bool CpuSampler::follow(pid_t process) {
  if (sees_all_) return true;
  followers_.clear();
  const std::vector<pid_t> threads = threads_of(fmt::format("/proc/{}/task", process));
  if (threads.size() * rings_.size() > files_to_be_opened(kMostEvents)) return false;
  for (const pid_t thread : threads)
    for (const Ring& ring : rings_)
      if (Descriptor event = open_follower(thread, ring); event.open())
        followers_.push_back(std::move(event));
  return true;
}

void CpuSampler::read(pid_t pid, const std::function<void(const CpuSample&)>& take) {
  for (Ring& ring : rings_) {
    // A new period starts at once: if it were set at every read, a long one would never end.
    if (!read_ring(ring, pid, take) || !sees_all_) continue;
    uint64_t period = static_cast<uint64_t>(period_ns_ * jitter_.next());
    ::ioctl(ring.event.get(), PERF_EVENT_IOC_PERIOD, &period);
  }
}

// Did anything arrive?
bool CpuSampler::read_ring(Ring& ring, pid_t pid,
                           const std::function<void(const CpuSample&)>& take) {
  auto* head = reinterpret_cast<perf_event_mmap_page*>(ring.memory);
  const char* data = ring.memory + kPage;
  constexpr uint64_t kSize = kRingPages * kPage;
  const uint64_t end = std::atomic_ref(head->data_head).load(std::memory_order_acquire);
  uint64_t at = head->data_tail;
  std::string record;
  while (at < end) {
    const auto copy = [&](uint64_t from, size_t bytes, char* into) {
      for (size_t done = 0; done < bytes;) {  // a record may wrap around the ring's end
        const uint64_t place = (from + done) % kSize;
        const size_t piece = std::min<size_t>(bytes - done, kSize - place);
        std::memcpy(into + done, data + place, piece);
        done += piece;
      }
    };
    perf_event_header header;
    copy(at, sizeof header, reinterpret_cast<char*>(&header));
    if (header.size < sizeof header || header.size > end - at) break;
    // Hits in other processes are not copied: each contains a piece of a stack.
    uint32_t whose = 0;
    if (header.type == PERF_RECORD_SAMPLE && header.size >= sizeof header + kWhoseAt + sizeof whose)
      copy(at + sizeof header + kWhoseAt, sizeof whose, reinterpret_cast<char*>(&whose));
    const bool wanted = header.type != PERF_RECORD_SAMPLE || whose == static_cast<uint32_t>(pid);
    record.resize(wanted ? header.size - sizeof header : 0);
    copy(at + sizeof header, record.size(), record.data());
    at += header.size;
    if (!wanted) continue;
    if (header.type == PERF_RECORD_SAMPLE) {
      take_record(record, take);
    } else if (header.type == PERF_RECORD_LOST) {
      DwarfCursor in(record);
      in.take<uint64_t>();  // which event
      lost_ += static_cast<int64_t>(in.take<uint64_t>());
    }
  }
  const bool came = end != head->data_tail;
  std::atomic_ref(head->data_tail).store(end, std::memory_order_release);
  return came;
}

void CpuSampler::take_record(const std::string& record,
                             const std::function<void(const CpuSample&)>& take) {
  DwarfCursor in(record);
  CpuSample sample;
  in.take<uint64_t>();  // the address, which the registers contain too
  sample.pid = static_cast<pid_t>(in.take<uint32_t>());
  sample.tid = static_cast<pid_t>(in.take<uint32_t>());
  const auto abi = in.take<uint64_t>();
  if (abi == PERF_SAMPLE_REGS_ABI_32) return;
  if (abi == PERF_SAMPLE_REGS_ABI_64) {
    for (int name = 0; name < PERF_REG_X86_64_MAX; ++name) {  // in the order of their bits
      const auto* reg = std::find(std::begin(kRegisterNames), std::end(kRegisterNames), name);
      if (reg != std::end(kRegisterNames))
        sample.registers[static_cast<size_t>(reg - kRegisterNames)] = in.take<uint64_t>();
    }
  }
  if (const auto copied = in.take<uint64_t>(); copied > 0) {
    sample.stack.bytes = in.block(copied);
    const auto filled = in.take<uint64_t>();  // how many of these are filled
    sample.stack.bytes.resize(std::min<uint64_t>(sample.stack.bytes.size(), filled));
    sample.stack.address = sample.registers[kStackPointer].value_or(0);
  }
  if (in.good()) take(sample);
}

}  // namespace headway
