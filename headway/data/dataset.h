#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headway/core/element.h"
#include "headway/core/random.h"
#include "headway/data/image_step.h"
#include "headway/data/options.h"
#include "headway/data/pipeline.h"
#include "headway/io/records/example.h"

namespace headway {

class Node;

// Mean and deviation that models trained on ImageNet expect.
inline constexpr NormalizeStep kImageNet{.mean = {0.485f, 0.456f, 0.406f},
                                         .deviation = {0.229f, 0.224f, 0.225f}};

// A description of data and what to do with it, in tf.data's words. Immutable and cheap to copy;
// nothing is read before it is iterated. Functions given to it run on many threads at once unless
// told otherwise.
//
//   const Dataset photos = image_folder("photos/train")
//                              .shuffle()
//                              .decode_image()
//                              .random_resized_crop({.height = 224, .width = 224})
//                              .random_flip()
//                              .normalize(kImageNet)
//                              .batch(64);
//   for (const Batch& batch : photos) train(batch["image"], batch["label"]);
class Dataset {
 public:
  explicit Dataset(std::shared_ptr<const Node> node, Options options = {});

  // ---- transformations ----

  // Element -> Element, or a number -> a number on elements with a single value. A function that
  // takes its Element by value may write to its tensors: those that a cache, an array or another
  // element shares are copied first. One that takes a const Element& costs no copy.
  template <typename F>
  Dataset map(F fn, MapOptions options = {}) const;
  // The same with random numbers that depend on the sample alone, not on threads.
  Dataset random_map(std::function<Element(Element, Random&)> fn, MapOptions options = {}) const;
  template <typename F>
  Dataset filter(F predicate, MapOptions options = {}) const;
  Dataset flat_map(std::function<Dataset(const Element&)> fn) const;
  Dataset interleave(std::function<Dataset(const Element&)> fn,
                     InterleaveOptions options = {}) const;
  Dataset batch(int64_t size, BatchOptions options = {}) const;
  Dataset padded_batch(int64_t size, PaddedBatchOptions options = {}) const;
  Dataset unbatch() const;
  Dataset shuffle(ShuffleOptions options = {}) const;
  Dataset shuffle(int64_t buffer_size) const {
    return shuffle(ShuffleOptions{.buffer_size = buffer_size});
  }
  Dataset repeat(std::optional<int64_t> count = {}) const;  // default: for ever, as is -1
  Dataset take(int64_t count) const;
  Dataset skip(int64_t count) const;
  Dataset shard(int64_t num_shards, int64_t index) const;
  Dataset enumerate(int64_t start = 0, std::string field = "index") const;
  Dataset cache(std::string file = "") const;  // in memory, or in one file
  // Every pipeline works ahead; this sets how far.
  Dataset prefetch(std::optional<int64_t> buffer_size = {}) const;
  Dataset concatenate(const Dataset& other) const;
  Dataset with_options(Options options) const;
  Dataset with_seed(uint64_t seed) const { return with_options({.seed = seed}); }

  // ---- records and files ----

  // tf.Example in `field` -> one field per feature.
  Dataset parse_example(std::vector<FeatureSpec> features, std::string field = "value") const;
  // The bytes of the file that "path" names, as `field`.
  Dataset read_file(std::string field = "bytes") const;

  // ---- images: pixels as tf.image's ----

  // Makes "image" from the file "path" names, or from encoded bytes in `field`.
  Dataset decode_image(DecodeStep options = {}, std::string field = "") const;
  Dataset resize(ResizeStep options) const;
  Dataset resize_shorter(ResizeShorterStep options) const;
  Dataset center_crop(CenterCropStep options) const;
  Dataset crop(Rect rect) const;
  Dataset random_crop(RandomCropStep options) const;
  Dataset random_resized_crop(RandomResizedCropStep options) const;
  Dataset flip_left_right() const;
  Dataset flip_up_down() const;
  Dataset random_flip(float probability = 0.5f) const;
  Dataset random_flip_up_down(float probability = 0.5f) const;
  Dataset random_affine(AffineStep options) const;
  Dataset brightness(float delta) const;
  Dataset random_brightness(float max_delta) const;
  Dataset contrast(float factor) const;
  Dataset random_contrast(float lower, float upper) const;
  Dataset saturation(float factor) const;
  Dataset random_saturation(float lower, float upper) const;
  Dataset hue(float delta) const;
  Dataset random_hue(float max_delta) const;
  Dataset grayscale(int channels = 1) const;
  Dataset convert_image_dtype(DType dtype) const;
  Dataset normalize(NormalizeStep options) const;
  Dataset per_image_standardization() const;
  Dataset layout(Layout layout) const;
  Dataset image_step(ImageStep step, std::string field = "") const;

  // ---- use ----

  Pipeline start(StartOptions options = {}) const;
  PipelineIterator begin() const;  // each loop over a dataset is its next iteration
  PipelineEnd end() const { return {}; }

  template <typename T, typename F>
  T reduce(T state, F fn) const {
    Pipeline pipeline = start();
    while (auto element = pipeline.next()) state = fn(std::move(state), *element);
    return state;
  }

  int64_t cardinality() const;  // number of elements, kInfinite or kUnknown
  bool has_random_access() const;
  Element at(int64_t i, int64_t epoch = 0) const;

  std::string describe() const;            // one operator a line, source first
  std::vector<OpFacts> operators() const;  // likewise, and what they are
  const Options& options() const { return options_; }
  const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  Dataset then(std::shared_ptr<const Node> node) const;
  Dataset map_in_place(std::function<void(Element&)> fn, MapOptions options) const;
  // Can this function only read its Element? Not known of templates and overloads.
  template <typename F>
  struct OnlyReads : std::false_type {};
  template <typename R>
  struct OnlyReads<R (*)(const Element&)> : std::true_type {};
  template <typename R, typename C>
  struct OnlyReads<R (C::*)(const Element&)> : std::true_type {};
  template <typename R, typename C>
  struct OnlyReads<R (C::*)(const Element&) const> : std::true_type {};
  template <typename F>
  static constexpr bool only_reads() {
    if constexpr (requires { &F::operator(); }) return OnlyReads<decltype(&F::operator())>::value;
    else return OnlyReads<F>::value;
  }
  Dataset filter_element(std::function<bool(const Element&)> predicate, MapOptions options) const;
  template <typename In, typename F>
  static void call_scalar(const F& fn, Element& element, Tensor& value);

  std::shared_ptr<const Node> node_;
  Options options_;
  std::shared_ptr<std::atomic<int64_t>> iterations_;  // loops begun so far
};

// ---- sources ----

Dataset range(int64_t stop);
Dataset range(int64_t start, int64_t stop, int64_t step = 1);
// Rows of the tensors, without copying: Tensor::view wraps memory of your own.
Dataset from_tensor_slices(std::vector<std::pair<std::string, Tensor>> fields);
Dataset from_tensor_slices(Tensor values);
// `make` is called for each iteration and returns what is called for each element:
//   generator([] { return [n = 0]() mutable -> std::optional<Element> { ... }; })
Dataset generator(std::function<std::function<std::optional<Element>()>()> make);
// "path" of each file that matches: *, ?, [a-z], ** and {a,b}; or of the files given.
Dataset files(const std::string& pattern);
Dataset files(const std::vector<std::string>& paths);
// "path" and "label" of each image under root/<class>/.
Dataset image_folder(const std::string& root);
std::vector<std::string> class_names(const std::string& root);

// Records as "value". Plain files are indexed, which gives random access and exact shuffling.
Dataset tfrecord(const std::string& pattern, TFRecordDatasetOptions options = {});
Dataset tfrecord(std::vector<std::string> files, TFRecordDatasetOptions options = {});
Dataset text_lines(const std::string& pattern, Compression compression = Compression::kAuto);
// What an earlier run skipped: "path", "offset" and "reason" of each line of its skip log.
Dataset skip_log(const std::string& path);
Dataset zip(const std::vector<Dataset>& datasets);

// ---- the small print ----

template <typename In, typename F>
void Dataset::call_scalar(const F& fn, Element& element, Tensor& value) {
  if constexpr (std::is_same_v<std::invoke_result_t<F, In>, Element>) {
    element = fn(value.item<In>());
  } else {
    value = Tensor::scalar(fn(value.item<In>()));
  }
}

template <typename F>
Dataset Dataset::map(F fn, MapOptions options) const {
  if constexpr (std::is_invocable_r_v<Element, F, Element>) {
    return map_in_place(
        [fn = std::move(fn)](Element& e) {
          Element in;  // e keeps its origin, for messages
          in.fields() = std::move(e.fields());
          in.copy_origin(e);
          if constexpr (!only_reads<F>()) in.own_values();
          Element out = fn(std::move(in));
          if (!out.origin_file()) out.copy_origin(e);
          e = std::move(out);
        },
        std::move(options));
  } else {
    return map_in_place(
        [fn = std::move(fn)](Element& e) {
          Tensor& value = e.only();
          switch (value.dtype()) {
            case DType::kFloat32: return call_scalar<float>(fn, e, value);
            case DType::kFloat64: return call_scalar<double>(fn, e, value);
            case DType::kInt32: return call_scalar<int32_t>(fn, e, value);
            default: return call_scalar<int64_t>(fn, e, value);
          }
        },
        std::move(options));
  }
}

template <typename F>
Dataset Dataset::filter(F predicate, MapOptions options) const {
  if constexpr (std::is_invocable_r_v<bool, F, const Element&>) {
    return filter_element(std::move(predicate), std::move(options));
  } else {
    return filter_element([predicate = std::move(predicate)](
                              const Element& e) { return predicate(e.only().item<int64_t>()); },
                          std::move(options));
  }
}

}  // namespace headway
