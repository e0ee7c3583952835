#include "headway/data/dataset.h"

#include <fmt/format.h>

#include "headway/data/ops/image_op.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"
#include "headway/data/skip_log.h"
#include "headway/data/sources/sources.h"
#include "headway/io/bytes/file.h"
#include "headway/io/bytes/glob.h"
#include "headway/io/records/tfrecord_index.h"

namespace headway {
namespace {

std::vector<std::string> expand(const std::string& pattern) {
  const PathList list = list_files(pattern);
  std::vector<std::string> paths;
  for (size_t i = 0; i < list.size(); ++i) paths.push_back(list.path(i));
  return paths;
}

ExpandFn nodes_of(std::function<Dataset(const Element&)> fn) {
  return [fn = std::move(fn)](const Element& element) { return fn(element).node(); };
}

}  // namespace

Options Options::or_else(const Options& others) const {
  Options merged = *this;
  if (!merged.threads) merged.threads = others.threads;
  if (!merged.spare_cores) merged.spare_cores = others.spare_cores;
  if (!merged.ram_budget_bytes) merged.ram_budget_bytes = others.ram_budget_bytes;
  if (!merged.deterministic) merged.deterministic = others.deterministic;
  if (!merged.seed) merged.seed = others.seed;
  if (!merged.errors) merged.errors = others.errors;
  if (!merged.stall_report_s) merged.stall_report_s = others.stall_report_s;
  return merged;
}

Dataset::Dataset(std::shared_ptr<const Node> node, Options options)
    : node_(std::move(node)),
      options_(std::move(options)),
      iterations_(std::make_shared<std::atomic<int64_t>>(0)) {}

Dataset Dataset::then(std::shared_ptr<const Node> node) const {
  return Dataset(std::move(node), options_);
}

Dataset Dataset::map_in_place(std::function<void(Element&)> fn, MapOptions options) const {
  const auto bind = [fn = std::move(fn)](uint32_t) -> SampleFn {
    return [fn](Element& element, const SampleContext&) {
      fn(element);
      return true;
    };
  };
  if (options.name.empty()) options.name = "map";
  return then(make_map(node_, bind, std::move(options)));
}

Dataset Dataset::random_map(std::function<Element(Element, Random&)> fn, MapOptions options) const {
  const auto bind = [fn = std::move(fn)](uint32_t op) -> SampleFn {
    return [fn, op](Element& element, const SampleContext& context) {
      Random random = context.random(op);
      Element in;  // element keeps its origin, for messages
      in.fields() = std::move(element.fields());
      in.copy_origin(element);
      in.own_values();
      Element out = fn(std::move(in), random);
      if (!out.origin_file()) out.copy_origin(element);
      element = std::move(out);
      return true;
    };
  };
  if (options.name.empty()) options.name = "map";
  return then(make_map(node_, bind, std::move(options)));
}

Dataset Dataset::filter_element(std::function<bool(const Element&)> predicate,
                                MapOptions options) const {
  const auto bind = [predicate = std::move(predicate)](uint32_t) -> SampleFn {
    return [predicate](Element& element, const SampleContext&) { return predicate(element); };
  };
  if (options.name.empty()) options.name = "filter";
  return then(make_map(node_, bind, std::move(options), {.drops = true}));
}

Dataset Dataset::flat_map(std::function<Dataset(const Element&)> fn) const {
  return then(make_interleave(node_, nodes_of(std::move(fn)),
                              {.cycle_length = 1, .parallel = false}, "flat_map"));
}

Dataset Dataset::interleave(std::function<Dataset(const Element&)> fn,
                            InterleaveOptions options) const {
  return then(make_interleave(node_, nodes_of(std::move(fn)), options));
}

Dataset Dataset::batch(int64_t size, BatchOptions options) const {
  return then(make_batch(node_, size, options.drop_remainder));
}

Dataset Dataset::padded_batch(int64_t size, PaddedBatchOptions options) const {
  return then(make_padded_batch(node_, size, std::move(options)));
}

Dataset Dataset::unbatch() const { return then(make_unbatch(node_)); }

Dataset Dataset::shuffle(ShuffleOptions options) const {
  return then(make_shuffle(node_, options));
}

Dataset Dataset::repeat(std::optional<int64_t> count) const {
  return then(make_repeat(node_, count));
}
Dataset Dataset::take(int64_t count) const { return then(make_take(node_, count)); }
Dataset Dataset::skip(int64_t count) const { return then(make_skip(node_, count)); }
Dataset Dataset::shard(int64_t n, int64_t index) const { return then(make_shard(node_, n, index)); }
Dataset Dataset::enumerate(int64_t start, std::string field) const {
  return then(make_enumerate(node_, start, std::move(field)));
}
Dataset Dataset::cache(std::string file) const { return then(make_cache(node_, std::move(file))); }
Dataset Dataset::prefetch(std::optional<int64_t> buffer_size) const {
  return then(make_prefetch(node_, buffer_size));
}
Dataset Dataset::concatenate(const Dataset& other) const {
  return then(make_concatenate({node_, other.node_}));
}
Dataset Dataset::with_options(Options options) const {
  Dataset copy(node_, options.or_else(options_));
  copy.iterations_ = iterations_;
  return copy;
}

Dataset Dataset::parse_example(std::vector<FeatureSpec> features, std::string field) const {
  auto parser = std::make_shared<const ExampleParser>(features);
  std::vector<Name> names;
  for (const FeatureSpec& f : features) names.emplace_back(f.name);
  const auto bind = [parser, names, source = Name(field)](uint32_t) -> SampleFn {
    return [parser, names, source](Element& element, const SampleContext&) {
      const Tensor record = element[source];
      thread_local std::vector<Tensor> values;
      parser->parse(record.bytes(), record.storage(), values);
      element.remove(source);
      for (size_t i = 0; i < names.size(); ++i) element.set(names[i], std::move(values[i]));
      return true;
    };
  };
  return then(make_map(node_, bind, {.name = "parse_example"}, {.reads_files = true}));
}

Dataset Dataset::read_file(std::string field) const {
  const auto bind = [path = Name("path"), field = Name(field)](uint32_t) -> SampleFn {
    return [path, field](Element& element, const SampleContext&) {
      thread_local Buffer buffer;
      read_all(std::string(element[path].bytes()), buffer);
      element.set(field, Tensor::string(buffer.view()));
      return true;
    };
  };
  return then(make_map(node_, bind, {.name = "read_file"}, {.reads_files = true}));
}

Dataset Dataset::image_step(ImageStep step, std::string field) const {
  return then(make_image_step(node_, std::move(step), std::move(field)));
}

Dataset Dataset::decode_image(DecodeStep o, std::string field) const {
  return image_step(o, std::move(field));
}
Dataset Dataset::resize(ResizeStep o) const { return image_step(o); }
Dataset Dataset::resize_shorter(ResizeShorterStep o) const { return image_step(o); }
Dataset Dataset::center_crop(CenterCropStep o) const { return image_step(o); }
Dataset Dataset::crop(Rect rect) const { return image_step(CropStep{rect}); }
Dataset Dataset::random_crop(RandomCropStep o) const { return image_step(o); }
Dataset Dataset::random_resized_crop(RandomResizedCropStep o) const { return image_step(o); }
Dataset Dataset::flip_left_right() const { return image_step(FlipStep{FlipAxis::kLeftRight, 1}); }
Dataset Dataset::flip_up_down() const { return image_step(FlipStep{FlipAxis::kUpDown, 1}); }
Dataset Dataset::random_flip(float p) const {
  return image_step(FlipStep{FlipAxis::kLeftRight, p});
}
Dataset Dataset::random_flip_up_down(float p) const {
  return image_step(FlipStep{FlipAxis::kUpDown, p});
}
Dataset Dataset::random_affine(AffineStep o) const { return image_step(o); }
Dataset Dataset::brightness(float d) const { return image_step(BrightnessStep{{d, d}}); }
Dataset Dataset::random_brightness(float d) const { return image_step(BrightnessStep{{-d, d}}); }
Dataset Dataset::contrast(float f) const { return image_step(ContrastStep{{f, f}}); }
Dataset Dataset::random_contrast(float a, float b) const {
  return image_step(ContrastStep{{a, b}});
}
Dataset Dataset::saturation(float f) const { return image_step(SaturationStep{{f, f}}); }
Dataset Dataset::random_saturation(float a, float b) const {
  return image_step(SaturationStep{{a, b}});
}
Dataset Dataset::hue(float d) const { return image_step(HueStep{{d, d}}); }
Dataset Dataset::random_hue(float d) const { return image_step(HueStep{{-d, d}}); }
Dataset Dataset::grayscale(int channels) const { return image_step(GrayscaleStep{channels}); }
Dataset Dataset::convert_image_dtype(DType dtype) const {
  return image_step(ConvertStep{.dtype = dtype});
}
Dataset Dataset::normalize(NormalizeStep o) const { return image_step(o); }
Dataset Dataset::per_image_standardization() const { return image_step(StandardizeStep{}); }
Dataset Dataset::layout(Layout layout) const { return image_step(LayoutStep{layout}); }

Pipeline Dataset::start(StartOptions options) const { return Pipeline(*this, std::move(options)); }

PipelineIterator Dataset::begin() const {
  return PipelineIterator(start({.epoch = iterations_->fetch_add(1)}));
}

int64_t Dataset::cardinality() const { return node_->cardinality(); }
bool Dataset::has_random_access() const { return node_->indexed(); }

Element Dataset::at(int64_t i, int64_t epoch) const {
  const NodeChain chain(plan(node_));
  if (!node_->indexed()) {
    throw Error(fmt::format("at({}): elements of this dataset cannot be read by their number:\n{}",
                            i, describe()),
                "read the elements in order, or add .cache() before at(); files, tensors and "
                "uncompressed TFRecord files without .filter() can be read by number");
  }
  if (const int64_t n = cardinality(); i < 0 || (n >= 0 && i >= n)) {
    throw Error(n >= 0 ? fmt::format("at({}): there is no such element, the dataset has {}", i, n)
                       : fmt::format("at({}): there is no such element", i),
                n > 0 ? fmt::format("elements are counted from 0: give 0 to {}", n - 1)
                      : "elements are counted from 0");
  }
  Element element;
  chain.at(i, epoch, {.seed = options_.seed.value_or(0)}, element);
  return element;
}

std::string Dataset::describe() const { return describe_chain(*node_); }
std::vector<OpFacts> Dataset::operators() const { return facts_of_chain(*node_); }

// ---- sources ----

Dataset range(int64_t stop) { return range(0, stop); }
Dataset range(int64_t start, int64_t stop, int64_t step) {
  return Dataset(make_range(start, stop, step));
}

Dataset from_tensor_slices(std::vector<std::pair<std::string, Tensor>> fields) {
  return Dataset(make_tensor_slices(std::move(fields)));
}
Dataset from_tensor_slices(Tensor values) {
  return from_tensor_slices({{Element::value_name().str(), std::move(values)}});
}
Dataset generator(std::function<std::function<std::optional<Element>()>()> make) {
  return Dataset(make_generator(std::move(make)));
}
Dataset files(const std::string& pattern) {
  return Dataset(make_files(std::make_shared<const PathList>(list_files(pattern)), pattern));
}
Dataset files(const std::vector<std::string>& paths) {
  auto list = std::make_shared<PathList>();
  for (const std::string& path : paths) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) list->append("", path);
    else list->append(path.substr(0, std::max<size_t>(slash, 1)), path.substr(slash + 1));
  }
  const std::string first = paths.empty() ? "none" : paths[0] + " ...";
  return Dataset(make_files(std::move(list), first));
}
Dataset image_folder(const std::string& root) {
  return Dataset(make_image_folder(root, list_image_folder(root)));
}
std::vector<std::string> class_names(const std::string& root) {
  return list_image_folder(root).classes;
}

Dataset tfrecord(const std::string& pattern, TFRecordDatasetOptions options) {
  std::vector<std::string> files = expand(pattern);
  // "*.tfrecord*" finds the indices beside the files as well.
  std::erase_if(files, [](const std::string& path) { return path.ends_with(index_path("")); });
  return tfrecord(std::move(files), options);
}
Dataset tfrecord(std::vector<std::string> files, TFRecordDatasetOptions options) {
  return Dataset(make_tfrecord(std::move(files), options));
}
Dataset text_lines(const std::string& pattern, Compression compression) {
  return Dataset(make_text_lines(expand(pattern), compression));
}

Dataset skip_log(const std::string& path) {
  auto entries = std::make_shared<const std::vector<SkipEntry>>(SkipLog::read(path));
  return range(static_cast<int64_t>(entries->size()))
      .map(
          [entries](Element e) {
            const SkipEntry& entry = (*entries)[e.only().item<int64_t>()];
            Element out;
            out.set("path", Tensor::string(entry.file));
            out.set("offset", Tensor::scalar<int64_t>(entry.offset));
            out.set("reason", Tensor::string(entry.reason));
            out.set_origin(std::make_shared<const std::string>(entry.file), entry.offset);
            return out;
          },
          {.name = "skip_log"});
}

Dataset zip(const std::vector<Dataset>& datasets) {
  std::vector<NodePtr> nodes;
  Options options;
  for (const Dataset& d : datasets) {
    nodes.push_back(d.node());
    options = options.or_else(d.options());
  }
  return Dataset(make_zip(std::move(nodes)), options);
}

}  // namespace headway
