#include "cli/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace headway::cli {
namespace {

using Kind = Operator::Kind;

int positive(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) {
    throw Error(fmt::format("'{}' is not a whole number above 0", text));
  }
  return value;
}

float number(const std::string& text) {
  char* end = nullptr;
  const float value = std::strtof(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw Error(fmt::format("'{}' is not a number", text));
  return value;
}

std::pair<float, float> bounds(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw Error(fmt::format("'{}' is not of the form LOW:HIGH, as in 0.8:1.2", text));
  return {number(text.substr(0, colon)), number(text.substr(colon + 1))};
}

Layout layout_of(const std::string& text) {
  if (text != "chw" && text != "hwc")
    throw Error(fmt::format(
        "'{}' is not an order of dimensions: use 'chw' (channels first) or 'hwc' (channels last)",
        text));
  return text == "chw" ? Layout::kCHW : Layout::kHWC;
}

struct Word {
  const char* flag;
  const char* argument;  // what help calls it; null for none
  const char* help;
  Kind kind;
  Dataset (*apply)(const Dataset& d, const std::string& argument);
};

Dataset resize(const Dataset& d, const std::string& text) {
  const ResizeSpec spec = parse_resize(text);
  if (spec.shorter > 0) return d.resize_shorter({.size = spec.shorter});
  return d.resize({.height = spec.extent.height, .width = spec.extent.width});
}
Dataset center_crop(const Dataset& d, const std::string& text) {
  const Extent e = parse_extent(text);
  return d.center_crop({.height = e.height, .width = e.width});
}
Dataset random_crop(const Dataset& d, const std::string& text) {
  const Extent e = parse_extent(text);
  return d.random_crop({.height = e.height, .width = e.width});
}
Dataset random_resized_crop(const Dataset& d, const std::string& text) {
  const Extent e = parse_extent(text);
  return d.random_resized_crop({.height = e.height, .width = e.width});
}
Dataset random_rotation(const Dataset& d, const std::string& text) {
  const float most = number(text);
  return d.random_affine({.rotation_degrees = {-most, most}});
}
Dataset random_contrast(const Dataset& d, const std::string& text) {
  const auto [low, high] = bounds(text);
  return d.random_contrast(low, high);
}
Dataset random_saturation(const Dataset& d, const std::string& text) {
  const auto [low, high] = bounds(text);
  return d.random_saturation(low, high);
}

constexpr Word kWords[] = {
    {"--shuffle", nullptr, "give the elements in random order, a different one in each epoch",
     Kind::kElements, [](const Dataset& d, const std::string&) { return d.shuffle(); }},
    {"--resize", "HxW",
     "resize images to HxW, as in 224x224; shorter:N resizes the shorter side to N pixels",
     Kind::kPixels, resize},
    {"--center-crop", "HxW", "cut HxW pixels out of the middle of each image", Kind::kPixels,
     center_crop},
    {"--random-crop", "HxW", "cut HxW pixels out of each image at a random place", Kind::kPixels,
     random_crop},
    {"--random-resized-crop", "HxW",
     "cut out a window of random size and shape, and resize it to HxW", Kind::kPixels,
     random_resized_crop},
    {"--random-flip", nullptr, "mirror images left to right with probability 0.5", Kind::kPixels,
     [](const Dataset& d, const std::string&) { return d.random_flip(); }},
    {"--random-rotation", "DEGREES",
     "rotate images by a random angle of up to DEGREES in either direction", Kind::kPixels,
     random_rotation},
    {"--random-brightness", "DELTA",
     "change the brightness at random by up to DELTA, as a share of the whole range (0.1 is 10%)",
     Kind::kPixels,
     [](const Dataset& d, const std::string& text) { return d.random_brightness(number(text)); }},
    {"--random-contrast", "LOW:HIGH",
     "multiply the contrast by a random factor from LOW to HIGH, as in 0.8:1.2", Kind::kPixels,
     random_contrast},
    {"--random-saturation", "LOW:HIGH",
     "multiply the saturation by a random factor from LOW to HIGH, as in 0.8:1.2", Kind::kPixels,
     random_saturation},
    {"--random-hue", "DELTA",
     "shift the hue at random by up to DELTA, as a share of the colour wheel, 0 to 1",
     Kind::kPixels,
     [](const Dataset& d, const std::string& text) { return d.random_hue(number(text)); }},
    {"--grayscale", nullptr, "convert images to grey, with one channel", Kind::kPixels,
     [](const Dataset& d, const std::string&) { return d.grayscale(); }},
    {"--to-float", nullptr, "convert uint8 pixels to float32 from 0 to 1", Kind::kValues,
     [](const Dataset& d, const std::string&) { return d.convert_image_dtype(DType::kFloat32); }},
    {"--normalize", nullptr,
     "subtract ImageNet's mean and divide by its standard deviation, per channel", Kind::kValues,
     [](const Dataset& d, const std::string&) { return d.normalize(kImageNet); }},
    {"--standardize", nullptr, "scale each image to mean 0 and standard deviation 1", Kind::kValues,
     [](const Dataset& d, const std::string&) { return d.per_image_standardization(); }},
    {"--layout", "chw|hwc", "order of the dimensions: chw (channels first) or hwc (channels last)",
     Kind::kValues,
     [](const Dataset& d, const std::string& text) { return d.layout(layout_of(text)); }},
    {"--batch", "N", "put N elements together into one batch", Kind::kBatch,
     [](const Dataset& d, const std::string& text) { return d.batch(positive(text)); }},
};

Operator bound(const Word& word, const std::string& argument) {
  return {word.kind, [&word, argument](const Dataset& d) { return word.apply(d, argument); }};
}

bool needs_pixels(const Operator& op) {
  return op.kind == Kind::kPixels || op.kind == Kind::kValues;
}

}  // namespace

Extent parse_extent(const std::string& text) {
  const size_t cross = text.find('x');
  const int height = positive(std::string_view(text).substr(0, cross));
  if (cross == std::string::npos) return {height, height};
  return {height, positive(std::string_view(text).substr(cross + 1))};
}

ResizeSpec parse_resize(const std::string& text) {
  constexpr std::string_view kShorter = "shorter:";
  if (text.starts_with(kShorter))
    return {.extent = {}, .shorter = positive(std::string_view(text).substr(kShorter.size()))};
  return {.extent = parse_extent(text)};
}

void OperatorOptions::add_to(CLI::App& verb) {
  verb_ = &verb;
  arguments_.resize(std::size(kWords));
  for (size_t i = 0; i < std::size(kWords); ++i) {
    const Word& word = kWords[i];
    if (!word.argument) {
      options_.push_back(verb.add_flag(word.flag, word.help));
    } else {
      const auto check = [&word](const std::string& text) { word.apply(range(1), text); };
      options_.push_back(verb.add_option(word.flag, arguments_[i], word.help)
                             ->check(parsed_by(check))
                             ->option_text(word.argument));
    }
    options_.back()->group("Operators, applied in the order given");
  }
  verb.add_flag("--decode", decode_, "decode images even if no operator needs their pixels")
      ->group("Operators, applied in the order given");
  verb.add_option("--mode", mode_,
                  "how to decode images: exact (the same pixels as Pillow), or fast (slightly "
                  "different pixels)")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
}

bool OperatorOptions::given() const {
  return decode_ || std::any_of(options_.begin(), options_.end(),
                                [](const auto* o) { return o->count() > 0; });
}

std::vector<Operator> OperatorOptions::chosen(const Input& input, Decoding decoding) const {
  std::vector<Operator> operators;
  for (const CLI::Option* option : verb_->parse_order()) {
    const auto at = std::find(options_.begin(), options_.end(), option);
    if (at == options_.end()) continue;
    const size_t i = at - options_.begin();
    operators.push_back(bound(kWords[i], arguments_[i]));
  }
  return decoded(std::move(operators), input, decoding);
}

std::vector<Operator> OperatorOptions::task(const std::string& name, const Input& input) const {
  const auto normalize = [](const NormalizeStep& step) -> Operator {
    return {Kind::kValues, [step](const Dataset& d) { return d.normalize(step); }};
  };
  const auto word = [](const std::string& flag, const std::string& argument = "") {
    const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                     [&](const Word& w) { return w.flag == flag; });
    return bound(*found, argument);
  };
  std::vector<Operator> operators;
  if (name == "t1")
    operators = {word("--resize", "shorter:256"), word("--center-crop", "224"),
                 normalize(kImageNet)};
  if (name == "t2")
    operators = {word("--random-resized-crop", "224"), word("--random-flip"), normalize(kImageNet)};
  if (name == "t3") operators = {word("--resize", "64"), normalize({})};
  operators.push_back(word("--layout", "chw"));
  operators.push_back(word("--batch", name == "t3" ? "16" : "64"));
  return decoded(std::move(operators), input, {});
}

std::vector<Operator> OperatorOptions::decoded(std::vector<Operator> operators, const Input& input,
                                               Decoding decoding) const {
  const auto place = std::find_if(operators.begin(), operators.end(), [](const Operator& op) {
    return needs_pixels(op) || op.kind == Kind::kBatch;
  });
  const bool wanted =
      std::any_of(operators.begin(), operators.end(), needs_pixels) || decode_ || decoding.always;
  if (wanted && !input.has_images()) {
    throw Error(fmt::format("{} ({}) has no images to decode", input.name, input.what()),
                "leave out the options that work on images (--decode, --resize, --random-flip "
                "...), or give a dataset with images");
  }
  if (!input.has_images() || !wanted) return operators;
  std::vector<Operator> added;
  if (input.kind == InputKind::kRecords) {
    std::vector<FeatureSpec> features = {fixed_len(input.image_key, DType::kString)};
    if (!input.label_key.empty()) features.push_back(fixed_len(input.label_key, DType::kInt64));
    if (decoding.class_text && !input.text_key.empty())
      features.push_back(fixed_len(input.text_key, DType::kString));
    added.push_back(
        {Kind::kDecode, [features](const Dataset& d) { return d.parse_example(features); }});
  }
  const DecodeMode mode = mode_ == "fast" ? DecodeMode::kFast : DecodeMode::kExact;
  added.push_back({Kind::kDecode, [mode, key = input.image_key](const Dataset& d) {
                     return d.decode_image({.mode = mode}, key);
                   }});
  operators.insert(place, added.begin(), added.end());
  return operators;
}

}  // namespace headway::cli
