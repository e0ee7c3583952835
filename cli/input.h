#pragma once

#include <string>
#include <vector>

#include "headway/data/dataset.h"

namespace headway::cli {

enum class InputKind { kImageFolder, kImages, kRecords, kText, kSkipLog };

// What a name on the command line turned out to be.
struct Input {
  std::string name;
  InputKind kind;
  Dataset dataset;                     // "path" and "label", "path", or "value"
  std::vector<std::string> files{};    // of records and text
  std::vector<std::string> classes{};  // of an image folder
  std::string image_key{};  // of records: the feature that holds an encoded image, if any does
  std::string label_key{};  // of records with images: an int64 beside it, if there is one
  std::string text_key{};   // ... and the name of its class

  bool has_images() const {
    return kind == InputKind::kImageFolder || kind == InputKind::kImages || !image_key.empty();
  }
  std::string what() const;  // "image folder", "TFRecord" ...
};

// Recognises a folder of class folders, a folder of images or of TFRecord files, or a file or
// pattern of images, TFRecord, text (.txt .csv .tsv .log .json) or a ledger (.jsonl).
Input open_input(const std::string& name);

// Every image file that open_input would find in a folder, endings in any case.
inline constexpr const char* kImageEndings = "*.{jpg,jpeg,JPG,JPEG,png,PNG}";

}  // namespace headway::cli
