#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/contact_sheet.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/operators.h"
#include "cli/output.h"
#include "cli/statistics.h"
#include "cli/transcode.h"
#include "cli/verbs.h"
#include "cli/whole_file.h"
#include "headway/core/print.h"
#include "headway/io/bytes/file.h"
#include "headway/io/records/example.h"

namespace headway::cli {
namespace {

using Kind = Operator::Kind;

constexpr int64_t kSizeSample = 200;

struct Settings {
  std::string dataset;
  OperatorOptions operators;
  int64_t take = 8;
  std::string sheet;
  int64_t sheet_count = 24;
  uint64_t seed = 0;
  bool json = false;
};

// Some elements from all over, the same ones each time; the first ones where there is no other way.
Dataset sample_of(const Input& input, int64_t count, uint64_t seed) {
  const Dataset& d = input.dataset;
  return (d.has_random_access() ? d.shuffle({.seed = seed}) : d).take(count);
}

std::string cardinality_text(int64_t n) {
  return n == kInfinite ? "endless" : n == kUnknown ? "unknown (it is a stream)" : with_commas(n);
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// ---- what each operator makes of the first elements ----

struct AfterOperator {
  std::string name;
  int64_t cardinality;
  ElementStatistics elements;
};

AfterOperator look(const Dataset& dataset, int64_t take) {
  AfterOperator after{last_line(dataset.describe()), dataset.cardinality(), {}};
  Pipeline pipeline = dataset.take(take).start();
  while (const auto element = pipeline.next()) {
    check_interrupt();
    after.elements.add(*element);
  }
  return after;
}

std::vector<AfterOperator> after_each(const Settings& s, const Input& input) {
  Dataset dataset = input.dataset.with_seed(s.seed);
  std::vector<AfterOperator> out = {look(dataset, s.take)};
  bool batched = false;
  for (const Operator& op : s.operators.chosen(input, {.always = input.has_images()})) {
    dataset = op.apply(dataset);
    batched |= op.kind == Kind::kBatch;
    out.push_back(look(dataset, batched ? 1 : s.take));
  }
  return out;
}

// Fields that an operator left as they were are not repeated.
void print_operators(const std::vector<AfterOperator>& operators) {
  Table table({"operator", "field", "type", "shape", "values", ">mean", ">std"});
  std::map<std::string, std::vector<std::string>> known;
  for (const AfterOperator& op : operators) {
    std::string name = op.name.size() > 44 ? op.name.substr(0, 41) + "..." : op.name;
    for (const FieldStatistics& f : op.elements.fields()) {
      std::vector<std::string> cells = {f.name(),   f.type(), f.shape(),
                                        f.values(), f.mean(), f.deviation()};
      if (std::exchange(known[f.name()], cells) == cells) continue;
      cells.insert(cells.begin(), std::exchange(name, ""));
      table.row(cells);
    }
    if (!name.empty()) table.row({name, "(as before)"});
  }
  table.print();
}

nlohmann::json operators_json(const std::vector<AfterOperator>& operators) {
  nlohmann::json out = nlohmann::json::array();
  for (const AfterOperator& op : operators) {
    nlohmann::json fields = nlohmann::json::array();
    for (const FieldStatistics& f : op.elements.fields()) fields.push_back(f.json());
    out.push_back({{"operator", op.name},
                   {"cardinality", op.cardinality},
                   {"elements", op.elements.elements()},
                   {"fields", fields}});
  }
  return out;
}

// ---- the files: classes, sizes, features ----

std::map<std::string, int64_t> class_counts(const Input& input) {
  std::map<std::string, int64_t> counts;
  const Name label("label");
  for (const Element& element : input.dataset)
    ++counts[input.classes[element[label].item<int64_t>()]];
  return counts;
}

void print_classes(const std::map<std::string, int64_t>& classes) {
  constexpr int kShown = 20;
  std::string list;
  int shown = 0;
  for (const auto& [name, n] : classes) {
    if (++shown > kShown) continue;
    list += fmt::format("{}{} {}", list.empty() ? "" : " · ", name, with_commas(n));
  }
  print("  classes    {}: {}{}\n", classes.size(), list, shown > kShown ? " · ..." : "");
}

struct Sizes {
  std::vector<int64_t> width, height, bytes;
  std::map<std::string, int64_t> formats;
  int64_t bad = 0;
};

Element size_of_image(const Input& input, const Element& e) {
  const std::string key = input.kind == InputKind::kRecords ? input.image_key : "bytes";
  const std::string_view bytes = e[key].bytes();
  const EncodedImage image = transcode(bytes, e.origin(), {.verify = false});
  Element out;
  out.set("width", Tensor::scalar<int64_t>(image.width));
  out.set("height", Tensor::scalar<int64_t>(image.height));
  out.set("bytes", Tensor::scalar<int64_t>(static_cast<int64_t>(bytes.size())));
  out.set("format", Tensor::string(name_of(image.format)));
  return out;
}

Sizes sizes_of(const Input& input) {
  const Dataset sample = sample_of(input, kSizeSample, 0);
  const Dataset encoded = input.kind == InputKind::kRecords
                              ? sample.parse_example({fixed_len(input.image_key, DType::kString)})
                              : sample.read_file();
  Pipeline pipeline = encoded.map([input](Element e) { return size_of_image(input, e); })
                          .with_options({.errors = ErrorPolicy::skip_up_to(kSizeSample)})
                          .start();
  Sizes sizes;
  while (const auto image = pipeline.next()) {
    check_interrupt();
    sizes.width.push_back((*image)["width"].item<int64_t>());
    sizes.height.push_back((*image)["height"].item<int64_t>());
    sizes.bytes.push_back((*image)["bytes"].item<int64_t>());
    ++sizes.formats[std::string((*image)["format"].bytes())];
  }
  sizes.bad = pipeline.stats().skipped;
  for (auto* values : {&sizes.width, &sizes.height, &sizes.bytes})
    std::sort(values->begin(), values->end());
  return sizes;
}

// "320", or "200 .. 500, median 320".
std::string spread(const std::vector<int64_t>& sorted) {
  if (sorted.front() == sorted.back()) return with_commas(sorted.front());
  return fmt::format("{} .. {}, median {}", with_commas(sorted.front()), with_commas(sorted.back()),
                     with_commas(sorted[sorted.size() / 2]));
}

void print_sizes(const Sizes& sizes, int64_t all) {
  const auto seen = static_cast<int64_t>(sizes.width.size());
  if (seen > 0) {
    std::string formats;
    for (const auto& [format, n] : sizes.formats)
      formats += fmt::format("{}{} {}", formats.empty() ? "" : ", ", n, format);
    print("  sizes      width {} · height {} · {} bytes ({})\n", spread(sizes.width),
          spread(sizes.height), spread(sizes.bytes),
          seen == all ? formats : fmt::format("sample of {}: {}", seen, formats));
  }
  if (sizes.bad > 0)
    print("  BAD        {} of {} images looked at cannot be read; headway convert names them\n",
          sizes.bad, seen + sizes.bad);
}

nlohmann::json sizes_json(const Sizes& sizes) {
  nlohmann::json out = {
      {"sampled", sizes.width.size()}, {"bad", sizes.bad}, {"formats", sizes.formats}};
  const auto add = [&](const char* name, const std::vector<int64_t>& sorted) {
    if (!sorted.empty())
      out[name] = {
          {"min", sorted.front()}, {"median", sorted[sorted.size() / 2]}, {"max", sorted.back()}};
  };
  add("width", sizes.width), add("height", sizes.height), add("bytes", sizes.bytes);
  return out;
}

// Every feature of the first records, one row each; nothing when they are no tf.Examples.
ElementStatistics features_of(const Input& input, int64_t take) {
  ElementStatistics features;
  Pipeline pipeline = input.dataset.take(take).start();
  while (const auto record = pipeline.next()) {
    Element example;
    try {
      for (Feature& f : parse_all(record->only().bytes(), record->only().storage())) {
        if (f.dtype) example.set(f.name, f.values);
      }
    } catch (const SampleError&) {
      return {};
    }
    features.add(example);
  }
  return features;
}

void print_features(const ElementStatistics& features) {
  if (features.fields().empty()) {
    print("  records    not tf.Examples\n");
    return;
  }
  print("\n");
  Table table({"feature", "kind", "values each", "first", ">mean"});
  for (const FieldStatistics& f : features.fields())
    table.row({f.name(), f.type(), f.shape(), f.values(), f.mean()});
  table.print();
}

// ---- the contact sheet ----

std::string caption_of(const Input& input, const Element& e) {
  if (!input.text_key.empty() && e.find(input.text_key))
    return std::string(e[input.text_key].bytes());
  const std::string key = input.kind == InputKind::kImageFolder ? "label" : input.label_key;
  const Tensor* label = key.empty() ? nullptr : e.find(key);
  if (!label)
    return e.origin_file() ? std::filesystem::path(*e.origin_file()).filename().string() : "";
  const auto number = label->item<int64_t>();
  return input.classes.empty() ? fmt::format("label {}", number) : input.classes[number];
}

// Pictures as the operators leave them, up to the first that makes numbers of them.
std::vector<Picture> pictures_of(const Settings& s, const Input& input) {
  Dataset dataset = sample_of(input, s.sheet_count, s.seed).with_seed(s.seed);
  for (const Operator& op : s.operators.chosen(input, {.always = true, .class_text = true})) {
    if (op.kind == Kind::kValues || op.kind == Kind::kBatch) break;
    if (op.kind != Kind::kElements) dataset = op.apply(dataset);
  }
  std::vector<Picture> pictures;
  Pipeline pipeline = dataset.start();
  while (auto element = pipeline.next()) {
    check_interrupt();
    pictures.push_back({(*element)["image"], caption_of(input, *element)});
  }
  return pictures;
}

void write_sheet(const Settings& s, const Input& input) {
  if (!input.has_images())
    throw Error(s.dataset + " has no images, so --sheet has nothing to draw", "leave out --sheet");
  const std::vector<uint8_t> png = contact_sheet(pictures_of(s, input));
  write_whole(s.sheet, {reinterpret_cast<const char*>(png.data()), png.size()});
}

void inspect(const Settings& s) {
  const Input input = open_input(s.dataset);
  const int64_t count = input.dataset.cardinality();
  const bool folder = input.kind == InputKind::kImageFolder,
             records = input.kind == InputKind::kRecords;
  const auto classes = folder ? class_counts(input) : std::map<std::string, int64_t>();
  const Sizes sizes = input.has_images() ? sizes_of(input) : Sizes();
  const ElementStatistics features = records ? features_of(input, s.take) : ElementStatistics();
  if (!s.json) {
    print("{}\n  what       {}{}\n  elements   {}\n", s.dataset, input.what(),
          input.files.size() > 1 ? fmt::format(", {} files", input.files.size()) : "",
          cardinality_text(count));
    if (folder) print_classes(classes);
    print_sizes(sizes, count);
    if (records) print_features(features);
    std::fflush(stdout);
  }
  const std::vector<AfterOperator> operators = after_each(s, input);
  if (!s.sheet.empty()) write_sheet(s, input);
  if (s.json) {
    nlohmann::json out = {{"dataset", s.dataset},
                          {"kind", input.what()},
                          {"cardinality", count},
                          {"operators", operators_json(operators)}};
    if (folder) out["classes"] = classes;
    if (input.has_images()) out["sizes"] = sizes_json(sizes);
    for (const FieldStatistics& f : features.fields()) out["features"].push_back(f.json());
    if (!s.sheet.empty()) out["sheet"] = s.sheet;
    return print_json(out);
  }
  print("\nthe first {} after each operator\n", counted(s.take, "element"));
  print_operators(operators);
  if (!s.sheet.empty()) print("\ncontact sheet: {}\n", s.sheet);
}

}  // namespace

void add_inspect(CLI::App& app, Task& task) {
  auto* verb =
      app.add_subcommand("inspect", "what is in a dataset, and what each operator makes of it");
  set_help(*verb,
           {.examples =
                {{"headway inspect photos --sheet photos.png"},
                 {"headway inspect photos --resize 224x224 --random-flip --normalize --batch 32"},
                 {"headway inspect 'records/*.tfrecord' --take 2"}},
            .statuses = exit_statuses()});
  auto s = std::make_shared<Settings>();
  verb->add_option("DATASET", s->dataset,
                   "the data to look at: a folder, a file or a pattern such as 'data/*.tfrecord'; "
                   "images, TFRecord, text (.txt), or the list of skipped samples of an earlier "
                   "run (.jsonl)")
      ->type_name("PATH")
      ->required();
  s->operators.add_to(*verb);
  verb->add_option("--take", s->take,
                   "how many elements (records, images or batches) to read and describe after each "
                   "step of the processing")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--sheet", s->sheet, "write small pictures of some images to this PNG file")
      ->type_name("FILE")
      ->option_text("FILE");
  verb->add_option("--sheet-count", s->sheet_count, "how many images --sheet shows, 1 to 1000")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--seed", s->seed,
                   "whole number that all random choices follow (--shuffle, --random-..., the "
                   "images on --sheet): another number gives other choices")
      ->capture_default_str();
  verb->add_flag("--json", s->json, "print the result as one JSON object on standard output");
  verb->callback([s, &task] { task = [s] { inspect(*s); }; });
}

}  // namespace headway::cli
