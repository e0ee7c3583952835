#include "headway/probe/output/output_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "headway/probe/source/source_lines.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kLongestLine = 4000;
constexpr int64_t kMostSteps = int64_t{1} << 50;
constexpr size_t kMostRemarks = 20, kMostBars = 32;
constexpr double kStepMemory = 0.7;  // share of the old pace that is kept when a new one is seen

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The whole number after `key`: "step 12", "step: 12", "step=[12".
std::optional<int64_t> number_after(const std::string& text, std::string_view key,
                                    size_t* end = nullptr) {
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    if (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1]))) continue;
    size_t i = at + key.size();
    while (i < text.size() && std::strchr(" :=[(#'\"", text[i])) ++i;
    if (i == text.size() || !std::isdigit(static_cast<unsigned char>(text[i]))) continue;
    char* stop = nullptr;
    const int64_t value = std::strtoll(text.c_str() + i, &stop, 10);
    if (value > kMostSteps) continue;
    if (end) *end = static_cast<size_t>(stop - text.c_str());
    return value;
  }
  return std::nullopt;
}

bool isdigit_at(const std::string& text, size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
}

// "/31" at this position; -1: something else.
int64_t of_how_many(const std::string& text, size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  if (at + 1 >= text.size() || text[at] != '/') return -1;
  ++at;
  while (at < text.size() && text[at] == ' ') ++at;
  if (at >= text.size() || !std::isdigit(static_cast<unsigned char>(text[at]))) return -1;
  return std::strtoll(text.c_str() + at, nullptr, 10);
}

// Progress bars that do not count training steps.
bool names_other_work(const std::string& head) {
  for (const char* word : {"validat", "sanity", "eval", "test", "predict", "download", "loading",
                           "tokeniz", "map:", "map (", "generating", "filter"})
    if (contains(head, word)) return true;
  return false;
}

struct Telling {
  std::string_view words;
  Remark kind;
};
constexpr Telling kTelling[] = {
    {"ran out of data", Remark::kOutOfData},
    {"Gradients do not exist", Remark::kGradientsDoNotExist},
    {"does not require grad", Remark::kGradientsDoNotExist},
    {"No gradients provided", Remark::kGradientsDoNotExist},
    {"CUDA out of memory", Remark::kGpuOutOfMemory},
    {"CUDA_ERROR_OUT_OF_MEMORY", Remark::kGpuOutOfMemory},
    {"out of memory", Remark::kOutOfMemory},
    {"OOM when allocating", Remark::kOutOfMemory},
    {"MemoryError", Remark::kOutOfMemory},
    {"ResourceExhausted", Remark::kOutOfMemory},
    {"DefaultCPUAllocator", Remark::kOutOfMemory},
    {"can't allocate memory", Remark::kOutOfMemory},
    {"exceeds 10% of free system memory", Remark::kLargeAllocation},
    {"suggested max number of worker", Remark::kTooManyWorkers},
    {"insufficient shared memory", Remark::kSharedMemory},
    {"Bus error", Remark::kSharedMemory},
    {"bus error", Remark::kSharedMemory},
    {"is killed by signal", Remark::kWorkerDied},
    {"exited unexpectedly", Remark::kWorkerDied},
    {"BrokenProcessPool", Remark::kWorkerDied},
    {"Can't pickle", Remark::kNotPicklable},
    {"cannot pickle", Remark::kNotPicklable},
    {"PicklingError", Remark::kNotPicklable},
    {"Cannot dlopen some GPU libraries", Remark::kCudaProblem},
    {"CUDA driver version is insufficient", Remark::kCudaProblem},
    {"no kernel image is available", Remark::kCudaProblem},
    {"cuDNN version", Remark::kCudaProblem},
    {"No space left on device", Remark::kDiskFull},
    {"Disk quota exceeded", Remark::kDiskFull},
    {"Too many open files", Remark::kTooManyFiles},
    {"Connection closed by peer", Remark::kRankLost},
    {"remote process exited", Remark::kRankLost},
    {"that is different to the input size", Remark::kBroadcasts},
};

Remark remark_in(const std::string& line) {
  for (const Telling& telling : kTelling)
    if (contains(line, telling.words)) return telling.kind;
  return Remark::kOther;
}

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void OutputReader::take(std::string_view bytes, double now_s, bool errors) {
  if (bytes.empty()) return;
  output_.bytes += static_cast<int64_t>(bytes.size());
  output_.last_s = now_s;
  std::string& partial = partial_[errors];
  for (const char c : bytes) {
    // Keras moves back over its bar before it draws the next one.
    if (c == '\n' || c == '\r' || (c == '\b' && !partial.empty())) {
      if (!torn_[errors]) take_line(without_escapes(partial), partial_s_[errors]);
      torn_[errors] = torn_[errors] && c == '\b';
      partial.clear();
      if (c == '\n') ++output_.lines;
    } else if (c != '\b' && partial.size() < kLongestLine) {
      partial += c;
      partial_s_[errors] = now_s;
    }
  }
  // A progress bar may end a redraw with no character at all; reading a line twice does no harm.
  if (!torn_[errors] && partial.size() > 8) {
    const std::string line = without_escapes(partial);
    if (!keras_line(line, now_s)) tqdm_line(line, now_s);
  }
}

void OutputReader::lose(int64_t bytes, double now_s, bool errors) {
  output_.bytes += bytes;
  output_.last_s = now_s;
  partial_[errors].clear();
  torn_[errors] = true;
  in_traceback_ = false;
}

void OutputReader::take_line(std::string line, double now_s) {
  if (line.find_first_not_of(" \t") == std::string::npos) return;
  traceback_line(line);
  if (!in_traceback_) {
    const bool bar = keras_line(line, now_s) || tqdm_line(line, now_s);
    if (!bar) plain_line(line, now_s);
    note_loss(line, bar, now_s);
    progress_.rewards |= tells_reward(line);
    note_rate(line);
  }
  remark(line, now_s);
}

// "Epoch 3/10" alone on a line; " 12/31 ====== 2s 110ms/step - loss: 1.2"; " 12/Unknown 3s ...".
bool OutputReader::keras_line(const std::string& line, double now_s) {
  int epoch = 0, epochs = 0, used = 0;
  if (std::sscanf(line.c_str(), " Epoch %d/%d%n", &epoch, &epochs, &used) == 2 &&
      static_cast<size_t>(used) == line.find_last_not_of(" ") + 1) {
    progress_.epoch = epoch, progress_.epochs = epochs;
    progress_.step = 0;
    return true;
  }
  if (!contains(line, "/step") && !contains(line, "/epoch")) return false;
  char* end = nullptr;
  const int64_t step = std::strtoll(line.c_str(), &end, 10);
  if (end == line.c_str() || *end != '/') return false;
  const int64_t of =
      std::strncmp(end, "/Unknown", 8) == 0 ? -1 : std::strtoll(end + 1, nullptr, 10);
  learns_length_ |= of < 0;
  if (validating_ && !contains(line, "val_")) return true;
  at_step(progress_.epoch, step, of, now_s);
  return true;
}

// " 45%|####  | 45/100 [00:10<00:12, 4.5it/s, loss=0.3]"; "45it [00:10, 4.5it/s]"
bool OutputReader::tqdm_line(const std::string& line, double now_s) {
  if (!contains(line, "it/s") && !contains(line, "s/it")) return false;
  const size_t bracket = line.find('[');
  if (bracket == std::string::npos) return false;
  const size_t bar = line.rfind('|', bracket);
  int64_t step = -1, of = -1;
  if (bar != std::string::npos) {
    char* end = nullptr;
    step = std::strtoll(line.c_str() + bar + 1, &end, 10);
    if (*end == '/') of = std::strtoll(end + 1, nullptr, 10);
  } else if (const size_t it = line.rfind("it", bracket); it != std::string::npos && it > 0) {
    size_t begin = it;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) --begin;
    if (begin == it) return false;
    step = std::strtoll(line.c_str() + begin, nullptr, 10);
  }
  if (step < 0) return false;
  const std::string head = lower(line.substr(0, bracket));
  const auto named = number_after(head, "epoch");
  if (names_other_work(head) || (validating_ && !named)) return true;
  if (named) progress_.epoch = *named;
  if (bars_.size() >= kMostBars) bars_.clear();
  const auto [bar_at, is_new] = bars_.try_emplace({named.value_or(-1), of}, 0);
  int64_t& last = bar_at->second;
  if (is_new && joins_late_) last = step, joins_late_ = false;
  made(step < last ? step : step - last, now_s);
  last = step;
  progress_.step = step;
  if (of > 0) progress_.steps_per_epoch = of;
  return true;
}

// "epoch 3 step 120 loss 0.53", "Train Epoch: 1 [640/60000 (1%)] Loss: 2.3", "[1, 2000] loss: 2.1",
// "[0:012] loss=0.4", "it 000025 | loss 0.05"
void OutputReader::plain_line(const std::string& line, double now_s) {
  const std::string small = lower(line.substr(0, 300));
  size_t end = 0;
  int64_t epoch = progress_.epoch;
  const auto named = number_after(small, "epoch", &end);
  if (named) {
    epoch = *named;
    // Hugging Face's Trainer prints "'epoch': 0.5": how many are done, not the number of this one.
    if (end + 1 < small.size() && small[end] == '.' && isdigit_at(small, end + 1)) ++epoch;
    if (const int64_t of = of_how_many(small, end); of > 0) progress_.epochs = of;
  }
  bool found = false;
  for (const std::string_view word :
       {"step", "iter", "iteration", "batch", "minibatch", "update", "it", "steps"}) {
    // These are ordinary words unless a loss is beside them.
    if ((word == "it" || word == "update" || word == "steps") && !loss_in(line)) continue;
    if (const auto step = number_after(small, word, &end)) {
      // "batch 32" may be a size, if it never changes.
      const bool may_be_a_size = (word == "batch" || word == "minibatch") && !loss_in(line);
      const auto before = may_be_a_size ? std::exchange(last_batch_, *step) : std::nullopt;
      if (may_be_a_size && (!before || *before == *step)) break;
      at_step(epoch, *step, of_how_many(small, end), now_s);
      found = true;
      break;
    }
  }
  int64_t first = 0, second = 0;
  if (!found && !named && contains(small, "loss") &&
      std::sscanf(small.c_str(), " [%ld%*1[,:/]%ld", &first, &second) == 2) {
    at_step(first, second, -1, now_s);
    found = true;
  }
  if (!found && named) {
    progress_.epoch = epoch;
    int64_t done = 0, of = 0;
    const size_t bracket = small.find('[');
    if (bracket != std::string::npos &&
        std::sscanf(small.c_str() + bracket, "[%ld/%ld", &done, &of) == 2) {
      at_step(epoch, done, of, now_s);
      found = true;
    }
  }
  if (found || (framework_ && !loss_in(line))) return;
  if (const auto count = counters_.count_in(small)) at_step(epoch, *count, -1, now_s);
}

void OutputReader::at_step(int64_t epoch, int64_t step, int64_t of, double now_s) {
  if (step < 0 || step > kMostSteps) return;
  if (joins_late_) last_epoch_ = epoch, last_step_ = step, joins_late_ = false;
  int64_t done = step - last_step_;
  // An epoch begins again, or the count continues through all epochs.
  if (done < 0 || (epoch != last_epoch_ && done == 0)) done = step;
  made(done, now_s);
  progress_.epoch = epoch, progress_.step = step;
  if (of > 0) progress_.steps_per_epoch = of;
  last_epoch_ = epoch, last_step_ = step;
}

void OutputReader::made(int64_t steps, double now_s) {
  SeenProgress& p = progress_;
  if (steps <= 0) return;
  if (p.first_step_s >= 0 && now_s > p.last_step_s) {
    const double pace = (now_s - p.last_step_s) / double(steps);
    p.step_s = p.step_s > 0 ? kStepMemory * p.step_s + (1 - kStepMemory) * pace : pace;
  }
  p.steps += steps;
  if (p.first_step_s < 0) p.first_step_s = now_s;
  p.last_step_s = now_s;
}

// Losses from complete lines only: the last state of a bar may be read twice.
void OutputReader::note_loss(const std::string& line, bool bar, double now_s) {
  if (validating_ && !contains(line, "val_")) return;
  auto value = loss_in(line);
  // The line has a count but no loss with a known name: a NaN in it is enough.
  const bool counts = progress_.last_step_s == now_s && progress_.steps > 0;
  if (!value && counts && tells_nan(line)) value = std::numeric_limits<double>::quiet_NaN();
  if (!value) return;
  if (bar && is_drawn_again(line)) return;
  if (bar) losses_.add_of_bar(now_s, progress_.steps, *value);
  else losses_.add(now_s, progress_.steps > 0 ? progress_.steps : other_steps_, *value);
  progress_.several_losses |= tells_several_losses(line);
  progress_.losses = losses_.finite, progress_.bad_losses = losses_.bad;
  progress_.loss = losses_.last, progress_.first_loss = losses_.first;
}

// tqdm redraws its last text until it gets a new one. How often that happens is known from the
// steps before the first text.
bool OutputReader::is_drawn_again(const std::string& line) {
  const size_t rate = std::max(line.rfind("it/s,") + 1, line.rfind("s/it,") + 1);
  if (rate == 0) return false;
  const std::string told = line.substr(rate);
  const int64_t steps = progress_.steps;
  if (told_every_ < 0) told_every_ = std::max<int64_t>(1, steps);
  if (told == told_by_bar_ && steps - told_at_ < told_every_) return true;
  told_by_bar_ = told, told_at_ = steps;
  return false;
}

void OutputReader::note_rate(const std::string& line) {
  constexpr double kVanished = 1e-5;  // of the highest
  const auto rate = rate_in(line);
  if (!rate || *rate < 0) return;
  SeenProgress& p = progress_;
  ++p.rates;
  p.rate = *rate, p.highest_rate = std::max(p.highest_rate, *rate);
  p.vanished_rates = *rate <= kVanished * p.highest_rate ? p.vanished_rates + 1 : 0;
}

void OutputReader::remark(const std::string& line, double now_s) {
  if (const size_t at = line.find("Filling up shuffle buffer"); at != std::string::npos) {
    long fill = 0, of = 0;
    const size_t colon = line.find("):", at);
    if (colon != std::string::npos &&
        std::sscanf(line.c_str() + colon + 2, "%ld of %ld", &fill, &of) == 2) {
      if (output_.shuffle_first < 0 || output_.shuffle_filled)
        output_.shuffle_first = fill, output_.shuffle_first_s = now_s;
      output_.shuffle_fill = fill, output_.shuffle_size = of, output_.shuffle_last_s = now_s;
      output_.shuffle_filled = false;
    }
  }
  if (contains(line, "Shuffle buffer filled")) output_.shuffle_filled = true;
  if (contains(line, "triggered tf.function retracing")) ++output_.retracings;
  const Remark kind = remark_in(line);
  if (kind == Remark::kOther || output_.remarks.size() >= kMostRemarks) return;
  // Keras prints this, too, when it finds out the length of the data by reading to the end.
  if (learns_length_ && kind == Remark::kOutOfData) return;
  const size_t warning = line.find("Warning: ");  // after the library's own file and line
  const std::string said =
      redact_exception(line.substr(warning == std::string::npos ? 0 : warning + 9)).substr(0, 300);
  const auto same = [&](const SeenRemark& known) { return known.text == said; };
  if (std::none_of(output_.remarks.begin(), output_.remarks.end(), same))
    output_.remarks.push_back({kind, said});
}

// '  File "train.py", line 12, in main', then the source, finally "ValueError: what".
void OutputReader::traceback_line(const std::string& line) {
  if (contains(line, "Traceback (most recent call last)")) {
    in_traceback_ = output_.traceback = true;
    output_.raised_at = {};
    output_.exception.clear();
    output_.exception_kind = Remark::kOther;
    return;
  }
  if (!in_traceback_) return;
  char file[512] = {}, function[256] = {};
  long number = 0;
  if (std::sscanf(line.c_str(), "  File \"%511[^\"]\", line %ld, in %255[^\n]", file, &number,
                  function) >= 2) {
    if (is_users_file(file)) output_.raised_at = {redact_path(file), function, number, true, ""};
    return;
  }
  if (line[0] == ' ' || line[0] == '\t') {
    return;
  }
  output_.exception = redact_exception(line).substr(0, 400);
  output_.exception_kind = remark_in(line);
  in_traceback_ = false;
}

}  // namespace headway
