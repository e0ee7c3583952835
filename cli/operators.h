#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/input.h"
#include "headway/data/dataset.h"

namespace headway::cli {

// A word of Dataset's, with its arguments.
struct Operator {
  enum class Kind {
    kElements,  // shuffle, take: which elements come
    kDecode,    // parse_example, decode_image
    kPixels,    // pixels stay 0..255
    kValues,    // normalise and the like: no longer an image one can look at
    kBatch,
  };
  Kind kind;
  std::function<Dataset(const Dataset&)> apply;
};

// The operators a verb takes as options, in the order in which they are given:
//
//   headway inspect photos --shuffle --resize 224x224 --random-flip --normalize --batch 32
class OperatorOptions {
 public:
  void add_to(CLI::App& verb);
  bool given() const;
  // With decoding put in front of the first operator that needs pixels. Throws when the input has
  // no images and such an operator was chosen.
  struct Decoding {
    bool always = false;      // also when no operator needs pixels
    bool class_text = false;  // records: parse the class's name too
  };
  std::vector<Operator> chosen(const Input& input, Decoding decoding = {false, false}) const;
  // The same for the tasks the benchmarks speak of: t1, t2, t3.
  std::vector<Operator> task(const std::string& name, const Input& input) const;

 private:
  std::vector<Operator> decoded(std::vector<Operator> operators, const Input& input,
                                Decoding decoding) const;

  CLI::App* verb_ = nullptr;
  std::vector<CLI::Option*> options_;  // as the words in operators.cpp
  std::vector<std::string> arguments_;
  std::string mode_ = "exact";
  bool decode_ = false;
};

// "224x160" (height x width) or "224" for both.
struct Extent {
  int height = 0;
  int width = 0;
};
Extent parse_extent(const std::string& text);

// A resize as the command line spells it: HxW, or shorter:N for the shorter side.
struct ResizeSpec {
  Extent extent;
  int shorter = 0;  // when not 0, instead of extent
};
ResizeSpec parse_resize(const std::string& text);

// Usage errors for options whose text `parse` refuses.
template <typename Parse>
CLI::Validator parsed_by(Parse parse) {
  return CLI::Validator(
      [parse](std::string& text) {
        try {
          parse(text);
          return std::string();
        } catch (const Error& e) {
          return e.problem();
        }
      },
      "");
}

}  // namespace headway::cli
