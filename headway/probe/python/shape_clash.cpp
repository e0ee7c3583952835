#include "headway/probe/python/shape_clash.h"

#include <algorithm>

namespace headway {
namespace {

bool is_column(const LiveTensor& tensor) {
  return tensor.sizes.size() == 2 && tensor.sizes[1] == 1 && tensor.sizes[0] > 1;
}

}  // namespace

bool ShapeClash::clash(uint64_t one, uint64_t other) {
  const auto a = tensors_.of_object(one), b = tensors_.of_object(other);
  if (!a || !b) return false;
  const LiveTensor &column = is_column(*a) ? *a : *b, &row = is_column(*a) ? *b : *a;
  return is_column(column) && row.sizes.size() == 1 && row.sizes[0] == column.sizes[0];
}

int64_t ShapeClash::line_in(const PythonFrame& frame,
                            const std::vector<SourceDifference>& differences) {
  const int64_t first = frame.code->first_line;
  if (std::none_of(differences.begin(), differences.end(),
                   [&](const SourceDifference& each) { return each.line >= first; }))
    return 0;
  const PythonAttributes::Named variables = attributes_.variables_of(frame);
  const auto object_of = [&](const std::string& name) -> uint64_t {
    for (const auto& [each, object] : variables)
      if (each == name) return object;
    return 0;
  };
  for (const SourceDifference& each : differences) {
    const uint64_t left = object_of(each.left), right = object_of(each.right);
    if (each.line >= first && left != 0 && right != 0 && clash(left, right)) return each.line;
  }
  return 0;
}

}  // namespace headway
