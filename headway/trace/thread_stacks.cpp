#include "headway/trace/thread_stacks.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>

namespace headway {
namespace {

constexpr int kSignal = SIGURG;  // ignored by default, so a late signal does no harm
constexpr int kMaxFrames = 48;
constexpr size_t kShownFrames = 14;
constexpr int kPatienceMs = 200;

// Where the interrupted thread writes its stack. For one thread at a time, under a lock.
struct Slot {
  std::atomic<int> thread{0};  // that should write; 0: none
  std::atomic<bool> done{false};
  std::array<void*, kMaxFrames> frames{};
  int count = 0;
};
Slot g_slot;

void answer(int) {
  const int saved = errno;
  int asked = static_cast<int>(::syscall(SYS_gettid));
  if (g_slot.thread.compare_exchange_strong(asked, 0)) {
    g_slot.count = ::backtrace(g_slot.frames.data(), kMaxFrames);
    g_slot.done.store(true, std::memory_order_release);
  }
  errno = saved;
}

std::vector<void*> frames_of(int thread) {
  g_slot.done = false;
  g_slot.thread = thread;
  if (::syscall(SYS_tgkill, ::getpid(), thread, kSignal) != 0) return {};
  for (int i = 0; i < kPatienceMs && !g_slot.done.load(std::memory_order_acquire); ++i) {
    const timespec millisecond{0, 1'000'000};
    ::nanosleep(&millisecond, nullptr);
  }
  int still = thread;
  if (g_slot.thread.compare_exchange_strong(still, 0)) return {};  // it will not write any more
  while (!g_slot.done.load(std::memory_order_acquire)) {           // it is writing right now
  }
  return std::vector<void*>(g_slot.frames.begin(), g_slot.frames.begin() + g_slot.count);
}

// Names and lines of addresses in this process.
class Symbols {
 public:
  Symbols() {
    // Uses only debug files on this machine, beside the binaries: nothing is downloaded.
    static const Dwfl_Callbacks kCallbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*,
                             const char*, GElf_Word, char**) { return -1; },
        .section_address = nullptr,
        .debuginfo_path = nullptr};
    dwfl_.reset(dwfl_begin(&kCallbacks));
    if (!dwfl_) return;
    if (dwfl_linux_proc_report(dwfl_.get(), ::getpid()) != 0 ||
        dwfl_report_end(dwfl_.get(), nullptr, nullptr) != 0) {
      dwfl_.reset();
    }
  }

  std::string name(void* address) {
    const auto at = reinterpret_cast<Dwarf_Addr>(address) - 1;  // the call, not what follows it
    Dwfl_Module* module = dwfl_ ? dwfl_addrmodule(dwfl_.get(), at) : nullptr;
    if (!module) return fmt::format("{}", address);
    const char* symbol = dwfl_module_addrname(module, at);
    std::string text = symbol ? plain(symbol) : std::string(file_name(module_name(module)));
    if (Dwfl_Line* line = dwfl_module_getsrc(module, at)) {
      int number = 0;
      const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
      if (file) text += fmt::format(" ({}:{})", file_name(file), number);
    }
    return text;
  }

 private:
  static const char* module_name(Dwfl_Module* module) {
    return dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  static std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
  }
  // Without parameters: types of templates can fill screens.
  static std::string plain(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> whole(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    if (status != 0 || !whole) return symbol;
    std::string text = whole.get();
    int depth = 0;
    std::string out;
    for (const char c : text) {
      if (c == '(' && depth == 0 && !out.empty() && !out.ends_with("operator")) {
        if (!out.ends_with(' ') && !out.ends_with("::")) break;
      }
      if (c == '<') ++depth;
      if (depth == 0) out += c;
      if (c == '>' && depth > 0) --depth;
    }
    return out.empty() ? text : out;
  }

  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  std::unique_ptr<Dwfl, End> dwfl_;
};

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string state_of(const std::string& folder) {
  const std::string stat = first_line(folder + "/stat");
  const size_t end = stat.rfind(')');
  const char letter = end + 2 < stat.size() ? stat[end + 2] : '?';
  const std::string in = first_line(folder + "/wchan");
  const std::string where = in.empty() || in == "0" ? "" : " in " + in;
  switch (letter) {
    case 'R': return "running";
    case 'S': return "sleeping" + where;
    case 'D': return "waiting for a device" + where;
    default: return std::string(1, letter) + where;
  }
}

// Removes the frames of the signal handler and of the kernel's call to it.
void drop_signal_frames(std::vector<std::string>& frames) {
  const auto handler = std::find_if(frames.begin(), frames.end(), [](const std::string& f) {
    return f.find("answer") != std::string::npos;
  });
  if (handler != frames.end()) frames.erase(frames.begin(), handler + 1);
  if (!frames.empty()) frames.erase(frames.begin());  // the return from the handler
}

}  // namespace

std::vector<ThreadStack> thread_stacks() {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::vector<ThreadStack> stacks;
  const int self = static_cast<int>(::syscall(SYS_gettid));
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    const int thread = std::atoi(entry.path().filename().c_str());
    if (thread == self) continue;
    stacks.push_back({.thread = thread,
                      .name = first_line(entry.path().string() + "/comm"),
                      .state = state_of(entry.path().string())});
  }
  struct sigaction before {};
  if (::sigaction(kSignal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
      (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)) {
    return stacks;  // the program uses the signal itself
  }
  std::array<void*, 4> warm{};
  ::backtrace(warm.data(), warm.size());  // loads its library here and not in a handler
  struct sigaction ours {};
  ours.sa_handler = answer;
  ours.sa_flags = SA_RESTART;
  if (::sigaction(kSignal, &ours, nullptr) != 0) return stacks;
  std::vector<std::vector<void*>> addresses;
  for (const ThreadStack& stack : stacks) addresses.push_back(frames_of(stack.thread));
  ::sigaction(kSignal, &before, nullptr);
  Symbols symbols;
  for (size_t i = 0; i < stacks.size(); ++i) {
    for (void* address : addresses[i]) stacks[i].frames.push_back(symbols.name(address));
    drop_signal_frames(stacks[i].frames);
  }
  return stacks;
}

std::string stacks_text(const std::vector<ThreadStack>& stacks) {
  std::map<std::vector<std::string>, std::vector<const ThreadStack*>> alike;
  std::vector<const std::vector<std::string>*> order;
  for (const ThreadStack& stack : stacks) {
    auto [at, fresh] = alike.try_emplace(stack.frames);
    if (fresh) order.push_back(&at->first);
    at->second.push_back(&stack);
  }
  std::string text;
  for (const auto* frames : order) {
    const auto& threads = alike.at(*frames);
    const ThreadStack& first = *threads[0];
    text += fmt::format("thread {} \"{}\"{}, {}\n", first.thread, first.name,
                        threads.size() > 1 ? fmt::format(" and {} more", threads.size() - 1) : "",
                        first.state);
    for (size_t i = 0; i < std::min(kShownFrames, frames->size()); ++i) {
      text += "    " + (*frames)[i] + "\n";
    }
    if (frames->size() > kShownFrames) {
      text += fmt::format("    ... {} more\n", frames->size() - kShownFrames);
    }
    if (frames->empty()) text += "    (it did not answer)\n";
  }
  return text;
}

}  // namespace headway
