#include "cli/train_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/input.h"
#include "cli/make_data.h"
#include "cli/output.h"
#include "headway/core/error.h"

namespace headway::cli {
namespace {

constexpr int64_t kDrawn = 6000, kDrawnClasses = 5;
constexpr int kDrawnSide = 64;

std::string draw_images(const TrainSettings& s) {
  MakeData wanted;
  wanted.out = s.work + "/images";
  wanted.count = kDrawn;
  wanted.classes = kDrawnClasses;
  wanted.drawing.width = wanted.drawing.height = kDrawnSide;
  make_data(wanted);
  return wanted.out;
}

Dataset labelled(const Input& input) {
  if (input.kind == InputKind::kImageFolder) return input.dataset;
  if (input.kind != InputKind::kRecords || input.image_key.empty() || input.label_key.empty()) {
    throw Error(fmt::format("{} ({}) has no images with labels", input.name, input.what()),
                "give a folder with one folder of images per class, or TFRecord files whose "
                "records hold an encoded image and a label; see what these hold: headway inspect " +
                    input.name);
  }
  const std::string image = input.image_key, label = input.label_key;
  return input.dataset
      .parse_example({fixed_len(image, DType::kString), fixed_len(label, DType::kInt64)})
      .map([image, label](Element e) {
        e.rename(image, "encoded");
        if (label != "label") e.rename(label, "label");
        return e;
      });
}

// The largest label of records, plus one.
int64_t count_classes(const Input& input) {
  const std::string label = input.label_key;
  const Dataset labels = input.dataset.parse_example({fixed_len(label, DType::kInt64)});
  return 1 + labels.reduce(int64_t{0}, [&](int64_t most, const Element& e) {
    return std::max(most, e[label].item<int64_t>());
  });
}

Dataset decoded(const Dataset& dataset, const Input& input) {
  return input.kind == InputKind::kRecords ? dataset.decode_image({}, "encoded")
                                           : dataset.decode_image();
}

Dataset finished(const Dataset& dataset, const TrainSettings& s) {
  Options options{.seed = s.seed};
  options.threads = s.input_threads;
  return dataset.normalize({.mean = {0.5f, 0.5f, 0.5f}, .deviation = {0.5f, 0.5f, 0.5f}})
      .batch(s.batch)
      .with_options(options);
}

Dataset training_batches(const Dataset& rows, const Input& input, const TrainSettings& s,
                         int side) {
  Dataset images = decoded(rows.shuffle(), input);
  images = s.augment
               ? images.random_resized_crop({.height = side, .width = side, .scale = {0.3f, 1}})
                     .random_flip()
               : images.resize({.height = side, .width = side});
  return finished(images, s);
}

Dataset validation_batches(const Dataset& rows, const Input& input, const TrainSettings& s,
                           int side) {
  return finished(decoded(rows, input).resize({.height = side, .width = side}), s);
}

}  // namespace

TrainData open_train_data(const TrainSettings& s, int64_t size) {
  const Input input = open_input(s.data.empty() ? draw_images(s) : s.data);
  const Dataset rows = labelled(input);
  const int side = static_cast<int>(size);
  const int64_t count = rows.cardinality();
  const bool own_split = s.validation.empty() && s.validation_split > 0;
  if (own_split && count < 2) {
    throw Error(
        fmt::format(
            "{} cannot be split into training and validation data: {}", input.name,
            count == kUnknown ? "its number of elements is not known" : "it has one element"),
        "give validation data with --validation, or train without it: --validation-split 0");
  }
  const auto kept = own_split ? std::clamp<int64_t>(
                                    std::llround(double(count) * s.validation_split), 1, count - 1)
                              : 0;
  const Dataset mixed =
      own_split ? rows.shuffle({.seed = 0x5eed, .reshuffle_each_iteration = false}) : rows;
  Input apart = input;
  Dataset others = mixed.take(kept);
  if (!s.validation.empty()) {
    apart = open_input(s.validation);
    others = labelled(apart);
  }
  TrainData data{.training = training_batches(mixed.skip(kept), input, s, side),
                 .validation = validation_batches(others, apart, s, side)};
  data.class_names = input.classes;
  data.classes = s.classes > 0            ? s.classes
                 : !input.classes.empty() ? static_cast<int64_t>(input.classes.size())
                                          : count_classes(input);
  data.images = count < 0 ? count : count - kept;
  data.validation_images = others.cardinality();
  data.what = fmt::format("{} in {} from {}, {} of them for validation",
                          count < 0 ? "images" : counted(count, "image"),
                          counted(data.classes, "class"), input.name, kept);
  return data;
}

}  // namespace headway::cli
