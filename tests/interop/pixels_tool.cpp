// Runs image steps for pixels_test.py:
//
//   pixels_tool [--raw DTYPE H W C] FILE STEP...
//
// FILE is a JPEG or PNG, or raw values with --raw. A step is its name and settings with colons
// between, e.g. decode:3 resize:64:48:bilinear:1 brightness:0.2. Prints "dtype dims...", a newline
// and the values.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "headway/data/image_chain.h"

using namespace headway;

namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text) {
  Words words{""};
  for (char c : text) {
    if (c == ':') words.emplace_back();
    else words.back() += c;
  }
  return words;
}

int number(const Words& w, size_t i, int otherwise = 0) {
  return i < w.size() ? std::atoi(w[i].c_str()) : otherwise;
}
float real(const Words& w, size_t i) { return std::strtof(w.at(i).c_str(), nullptr); }
Range fixed(float value) { return {value, value}; }

DType dtype_named(const std::string& name) {
  for (DType dtype : {DType::kUInt8, DType::kUInt16, DType::kFloat32}) {
    if (name_of(dtype) == name) return dtype;
  }
  throw Error("no pixel type " + name);
}

Filter filter_named(const std::string& name) {
  for (Filter f : {Filter::kNearest, Filter::kBilinear, Filter::kBicubic, Filter::kArea}) {
    if (name_of(f) == name) return f;
  }
  throw Error("no filter " + name);
}

ImageStep decode_of(const Words& w) {
  DecodeStep step{.channels = number(w, 1, 3)};
  if (w.size() > 2) step.dtype = dtype_named(w[2]);
  step.mode = number(w, 3) ? DecodeMode::kFast : DecodeMode::kExact;
  step.exif = number(w, 4);
  return step;
}

ImageStep affine_of(const Words& w) {
  const std::map<std::string, FillMode> fills = {{"nearest", FillMode::kNearest},
                                                 {"constant", FillMode::kConstant},
                                                 {"reflect", FillMode::kReflect},
                                                 {"wrap", FillMode::kWrap}};
  return AffineStep{.rotation_degrees = fixed(real(w, 1)),
                    .shift_x = fixed(real(w, 2)),
                    .shift_y = fixed(real(w, 3)),
                    .shear_degrees = fixed(real(w, 4)),
                    .zoom_x = fixed(real(w, 5)),
                    .zoom_y = fixed(real(w, 6)),
                    .fill = fills.at(w.at(7)),
                    .fill_value = real(w, 8)};
}

ImageStep step_of(const std::string& text) {
  const Words w = split(text);
  const std::map<std::string, std::function<ImageStep()>> makers = {
      {"decode", [&] { return decode_of(w); }},
      {"resize",
       [&] {
         return ResizeStep{number(w, 1), number(w, 2), filter_named(w.at(3)), number(w, 4) != 0};
       }},
      {"crop",
       [&] {
         return CropStep{{number(w, 1), number(w, 2), number(w, 3), number(w, 4)}};
       }},
      {"flip_lr",
       [&] {
         return FlipStep{FlipAxis::kLeftRight, 1};
       }},
      {"flip_ud",
       [&] {
         return FlipStep{FlipAxis::kUpDown, 1};
       }},
      {"affine", [&] { return affine_of(w); }},
      {"brightness", [&] { return BrightnessStep{fixed(real(w, 1))}; }},
      {"contrast", [&] { return ContrastStep{fixed(real(w, 1))}; }},
      {"saturation", [&] { return SaturationStep{fixed(real(w, 1))}; }},
      {"hue", [&] { return HueStep{fixed(real(w, 1))}; }},
      {"grayscale", [&] { return GrayscaleStep{1}; }},
      {"convert", [&] { return ConvertStep{dtype_named(w.at(1))}; }},
      {"standardize", [&] { return StandardizeStep{}; }},
  };
  const auto maker = makers.find(w[0]);
  if (maker == makers.end()) throw Error("no step " + text);
  return maker->second();
}

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(std::vector<std::string> arguments) {
  std::vector<std::string> raw;
  if (arguments.at(0) == "--raw") {
    raw.assign(arguments.begin() + 1, arguments.begin() + 5);
    arguments.erase(arguments.begin(), arguments.begin() + 5);
  }
  const std::string path = arguments.at(0);
  std::vector<ImageStep> steps;
  for (size_t i = 1; i < arguments.size(); ++i) steps.push_back(step_of(arguments[i]));
  const ImageChain chain(steps);
  const auto bytes = read_file(path);
  ImageScratch scratch;
  std::vector<uint8_t> result;
  const auto place = [&](DType dtype, const Shape& shape) -> void* {
    result.resize(size_t(shape.count() * size_of(dtype)));
    fmt::print("{}", name_of(dtype));
    for (int64_t side : shape) fmt::print(" {}", side);
    fmt::print("\n");
    return result.data();
  };
  if (raw.empty()) {
    chain.run_encoded(bytes, {.file = path}, Random(0, 0, 0, 0), scratch, place);
  } else {
    const ImageView view = packed(bytes.data(), dtype_named(raw[0]), std::stoi(raw[1]),
                                  std::stoi(raw[2]), std::stoi(raw[3]));
    chain.run_pixels(view, Random(0, 0, 0, 0), scratch, place);
  }
  std::fwrite(result.data(), 1, result.size(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
