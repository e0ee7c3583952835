#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headway/core/log.h"
#include "headway/core/permutation.h"
#include "headway/data/ops/iterators.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

constexpr int64_t kDefaultBuffer = 10'000;
constexpr int64_t kDefaultMinimumFill = 512;
constexpr uint32_t kBufferStream = 0x4255;

// A buffer from which elements are drawn at random. It yields from the minimum fill on and grows
// while it yields (two in for one out), so that nobody waits for it to be full.
class BufferShuffle : public ReplayIterator {
 public:
  BufferShuffle(Runtime& runtime, std::unique_ptr<Iterator> input, int64_t buffer, int64_t minimum,
                uint64_t seed, int64_t epoch)
      : runtime_(runtime),
        input_(std::move(input)),
        capacity_(buffer),
        wanted_(std::min(buffer, minimum)),
        random_(seed, epoch, 0, kBufferStream) {
    runtime_.recorder.buffer_wanted = wanted_;
    runtime_.recorder.buffer_held = 0;
  }

  ~BufferShuffle() override { runtime_.ram.release(bytes_); }

 protected:
  Poll produce(Element& out) override {
    while (wanted_ > 0 && !ended_ && static_cast<int64_t>(held_.size()) < capacity_) {
      Element element;
      const Poll poll = input_->next(element);
      if (poll == Poll::kPending) return poll;
      ended_ = poll == Poll::kEnd;
      if (!ended_) hold(std::move(element));
      --wanted_;
    }
    if (held_.empty()) return Poll::kEnd;
    if (!checked_) warn_of_one_class();
    std::swap(held_[random_.below(held_.size())], held_.back());
    out = std::move(held_.back());
    held_.pop_back();
    release(out.size_bytes());
    wanted_ = 2;
    return Poll::kElement;
  }

  // The elements so far come out the same only with the window they came out of.
  void save_more(Cursor& cursor) const override {
    cursor.put(capacity_);
    cursor.put(settled_);
  }
  void restore_more(CursorReader& cursor) override {
    capacity_ = cursor.take();
    settled_ = cursor.take();
  }

 private:
  // Data sorted by class does not mix in a small window: said once, at the start.
  void warn_of_one_class() {
    constexpr size_t kEnoughToTell = 32;
    static const Name label("label");
    checked_ = true;
    if (held_.size() < kEnoughToTell) return;
    const Tensor* first = held_[0].find(label);
    for (const Element& e : held_) {
      const Tensor* other = e.find(label);
      if (!first || !other || !first->same(*other)) return;
    }
    log(LogLevel::kWarning,
        fmt::format(
            "shuffle: the first {} elements all have label {}: the data seem sorted by class, "
            "and a buffer of {} cannot mix them; shuffle the file list, convert with --shuffle, "
            "or use indexed TFRecords",
            held_.size(), first->str(), capacity_));
  }

  // The window is what is asked for, or as many as fill half the RAM budget: decided once, by its
  // own bytes alone, so that it does not depend on what other stages hold at that moment.
  void hold(Element element) {
    element.compact();
    const int64_t size_bytes = element.size_bytes();
    runtime_.ram.reserve(size_bytes, true);
    bytes_ += size_bytes;
    held_.push_back(std::move(element));
    if (!checked_) runtime_.recorder.buffer_held.fetch_add(1, std::memory_order_relaxed);
    const auto held = static_cast<int64_t>(held_.size());
    if (settled_ || held >= capacity_ || bytes_ <= runtime_.ram.limit_bytes() / 2) return;
    log(LogLevel::kWarning,
        fmt::format(
            "shuffle: {} elements fill half the RAM budget of {} MB, so the buffer stays at "
            "that instead of {}; shuffle before decoding, or raise ram_budget_bytes",
            held, runtime_.ram.limit_bytes() >> 20, capacity_));
    capacity_ = held;
    settled_ = true;
  }
  void release(int64_t size_bytes) {
    bytes_ -= size_bytes;
    runtime_.ram.release(size_bytes);
  }

  Runtime& runtime_;
  std::unique_ptr<Iterator> input_;
  int64_t capacity_;
  int64_t wanted_;
  Random random_;
  std::vector<Element> held_;
  int64_t bytes_ = 0;
  bool ended_ = false;
  bool checked_ = false;
  bool settled_ = false;  // capacity_ will not change any more
};

class ShuffleNode : public Node {
 public:
  ShuffleNode(NodePtr input, ShuffleOptions options) : Node({std::move(input)}), options_(options) {
    const bool indexed = this->input()->indexed() && this->input()->cardinality() >= 0;
    traits_ = {.indexed = indexed, .only_indices = true, .facts = {.fills_first = !indexed}};
  }

  std::string describe() const override {
    std::string text =
        indexed() ? "shuffle(" : fmt::format("shuffle(buffer {} from {} on, ", buffer(), minimum());
    text += fmt::format("seed {}", options_.seed);
    return text + (options_.reshuffle_each_iteration ? ")" : ", same every iteration)");
  }
  int64_t cardinality() const override { return input()->cardinality(); }
  std::string replay() const override {
    return indexed() ? "" : "replays the elements of the iteration so far";
  }

  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    input()->at((*order(context.seed, epoch))[i], epoch, context, out);
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<BufferShuffle>(runtime, start(runtime, input(), epoch, depth), buffer(),
                                           minimum(), mix(runtime.seed(), options_.seed),
                                           order_epoch(epoch));
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<ShuffleNode>(std::move(inputs[0]), options_);
  }

 private:
  int64_t buffer() const { return options_.buffer_size.value_or(kDefaultBuffer); }
  int64_t minimum() const {
    return std::max<int64_t>(1, options_.minimum_fill.value_or(kDefaultMinimumFill));
  }
  int64_t order_epoch(int64_t epoch) const { return options_.reshuffle_each_iteration ? epoch : 0; }

  // The order of an epoch, made when first asked for. Two are kept: workers may be on both sides of
  // an epoch's end.
  std::shared_ptr<Permutation> order(uint64_t seed, int64_t epoch) const {
    const auto key = std::pair(mix(seed, options_.seed), order_epoch(epoch));
    MutexLock lock(mu_);
    auto& order = orders_[key];
    if (!order) order = std::make_shared<Permutation>(cardinality(), key.first, key.second);
    const auto kept = order;
    while (orders_.size() > 2) {
      orders_.erase(orders_.begin()->first == key ? std::prev(orders_.end()) : orders_.begin());
    }
    return kept;
  }

  ShuffleOptions options_;
  mutable Mutex mu_;
  mutable std::map<std::pair<uint64_t, int64_t>, std::shared_ptr<Permutation>> orders_
      HEADWAY_GUARDED_BY(mu_);
};

}  // namespace

NodePtr make_shuffle(NodePtr input, ShuffleOptions options) {
  if (options.buffer_size && *options.buffer_size < 1) {
    throw Error(fmt::format("shuffle: invalid buffer size {}", *options.buffer_size),
                "give 1 or more, or leave it out");
  }
  return std::make_shared<ShuffleNode>(std::move(input), options);
}

}  // namespace headway
