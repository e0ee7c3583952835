#include <fmt/format.h>

#include "headway/data/cache_store.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

// Opens its store when first used, and shares it with every copy of the node.
class SharedStore {
 public:
  SharedStore(std::string file, std::string description)
      : file_(std::move(file)), description_(std::move(description)) {}

  CacheStore& get() {
    MutexLock lock(mu_);
    if (!store_) store_ = file_.empty() ? memory_cache() : file_cache(file_, description_);
    return *store_;
  }
  bool in_memory() const { return file_.empty(); }

  void put(int64_t i, const Element& element, RamBudget* ram) {
    const int64_t size_bytes = element.size_bytes();
    if (in_memory() && ram && get().memory_bytes() + size_bytes > ram->limit_bytes()) {
      throw Error(fmt::format("cache: element {} does not fit into the RAM budget of {} MB ({} MB "
                              "are cached, {} MB are in use altogether)",
                              i, ram->limit_bytes() >> 20, get().memory_bytes() >> 20,
                              ram->used_bytes() >> 20),
                  "cache to a file (.cache(FILE)), move .cache() before decoding, or raise "
                  "ram_budget_bytes: .with_options({.ram_budget_bytes = ...})");
    }
    if (get().put(i, element) && in_memory() && ram) ram->reserve(size_bytes, true);
  }

 private:
  const std::string file_, description_;
  Mutex mu_;
  std::shared_ptr<CacheStore> store_ HEADWAY_GUARDED_BY(mu_);
};

// Over a stream: elements in order; what is not stored yet is pulled and stored on the way.
class CacheIterator : public Iterator {
 public:
  CacheIterator(Runtime& runtime, std::shared_ptr<SharedStore> store, NodePtr input, int depth)
      : runtime_(runtime), store_(std::move(store)), node_(std::move(input)), depth_(depth) {}

  Poll next(Element& out) override {
    try {
      if (auto stored = store_->get().get(position_)) {
        out = std::move(*stored);
        ++position_;
        return Poll::kElement;
      }
    } catch (const SampleError&) {
      ++position_;  // whoever skips errors goes on behind it
      throw;
    }
    if (const auto count = store_->get().complete(); count && position_ >= *count)
      return Poll::kEnd;
    if (!input_) input_ = start(runtime_, node_, 0, depth_);
    for (;;) {
      const Poll poll = input_->next(out);
      if (poll == Poll::kEnd) store_->get().set_complete(pulled_);
      if (poll != Poll::kElement) return poll;
      store_->put(pulled_, out, &runtime_.ram);
      if (pulled_++ < position_) continue;  // stored by an earlier iteration
      position_ = pulled_;
      return Poll::kElement;
    }
  }
  void save(Cursor& cursor) const override { cursor.put(position_); }
  void restore(CursorReader& cursor) override { position_ = cursor.take(); }

 private:
  Runtime& runtime_;
  std::shared_ptr<SharedStore> store_;
  NodePtr node_;
  int depth_;
  std::unique_ptr<Iterator> input_;
  int64_t position_ = 0;
  int64_t pulled_ = 0;  // elements of the input seen
};

class CacheNode : public Node {
 public:
  CacheNode(NodePtr input, std::string file, std::shared_ptr<SharedStore> store)
      : Node({std::move(input)}),
        file_(std::move(file)),
        store_(std::move(store)),
        chain_(this->input()) {
    const Node& in = *this->input();
    traits_ = {
        .indexed = in.indexed() && in.cardinality() >= 0 && !chain_.drops && !chain_.limited(),
        .reads_files = true,
        .facts = {.keeps = file_.empty()}};
  }

  std::string describe() const override { return file_.empty() ? "cache" : "cache(" + file_ + ")"; }
  int64_t cardinality() const override { return input()->cardinality(); }
  std::string replay() const override {
    return indexed() ? "" : "reads again what is not cached yet";
  }
  // Cached elements are those of iteration 0, whichever iteration comes first.
  void at(int64_t i, int64_t, const SampleContext& context, Element& out) const override {
    if (auto stored = store_->get().get(i)) {
      out = std::move(*stored);
      return;
    }
    chain_.at(i, 0, context, out);
    store_->put(i, out, context.ram);
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t, int depth) const override {
    return std::make_unique<CacheIterator>(runtime, store_, input(), depth);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<CacheNode>(std::move(inputs[0]), file_, store_);
  }
  int64_t held_bytes() const override {
    return store_->in_memory() ? store_->get().memory_bytes() : 0;
  }

 private:
  std::string file_;
  std::shared_ptr<SharedStore> store_;
  NodeChain chain_;
};

}  // namespace

NodePtr make_cache(NodePtr input, std::string file) {
  auto store = std::make_shared<SharedStore>(file, describe_chain(*input));
  return std::make_shared<CacheNode>(std::move(input), std::move(file), std::move(store));
}

}  // namespace headway
