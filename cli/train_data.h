#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/train_settings.h"
#include "headway/data/dataset.h"

namespace headway::cli {

// Batches to learn from and to validate on: "image" N x size x size x 3, scaled to about -1 .. 1,
// and "label"; with "path" where there are files.
struct TrainData {
  Dataset training, validation;
  int64_t classes = 0;
  std::vector<std::string> class_names{};
  int64_t images = 0, validation_images = 0;
  std::string what{};  // "2,000 images in 8 classes"
};

// Opens --data, or draws images of its own below --work.
TrainData open_train_data(const TrainSettings& settings, int64_t size);

}  // namespace headway::cli
