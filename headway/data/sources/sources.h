#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headway/data/node.h"
#include "headway/io/bytes/compression.h"
#include "headway/io/bytes/path_list.h"

// One factory per source; each lives in sources/<word>.cpp. Users call them through dataset.h.
namespace headway {

NodePtr make_range(int64_t start, int64_t stop, int64_t step);
NodePtr make_tensor_slices(std::vector<std::pair<std::string, Tensor>> fields);

// Calls `make` for each iteration; what it returns is called until it gives nothing.
using Generator = std::function<std::optional<Element>()>;
NodePtr make_generator(std::function<Generator()> make);

// `samples`: each file is one; else they are read for what is in them.
NodePtr make_files(std::shared_ptr<const PathList> paths, std::string description,
                   bool samples = true);

struct ImageFolder {
  std::shared_ptr<const PathList> paths;
  std::vector<int32_t> labels;       // one a path
  std::vector<std::string> classes;  // sorted
};
// Every image below root/<class>/, classes and files sorted by name.
ImageFolder list_image_folder(const std::string& root);
NodePtr make_image_folder(std::string root, ImageFolder folder);

NodePtr make_tfrecord(std::vector<std::string> files, TFRecordDatasetOptions options);
NodePtr make_text_lines(std::vector<std::string> files, Compression compression);

}  // namespace headway
