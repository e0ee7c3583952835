#pragma once

#include <string>
#include <vector>

#include "headway/data/image_chain.h"
#include "headway/data/node.h"
#include "headway/data/sample_op.h"

namespace headway {

// One image step on the field "image". The decoding step makes that field: from encoded bytes in
// `field`, or from the file that `field` (by default "path") names, which it replaces.
NodePtr make_image_step(NodePtr input, ImageStep step, std::string field);

// Consecutive image steps of a chain merged into one pass over the pixels.
std::vector<SampleOpPtr> fuse_image_ops(std::vector<SampleOpPtr> ops);

}  // namespace headway
