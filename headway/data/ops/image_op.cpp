#include "headway/data/ops/image_op.h"

#include "headway/data/batch_builder.h"
#include "headway/data/pixel_room.h"
#include "headway/io/bytes/file.h"

namespace headway {
namespace {

const Name& image_name() {
  static const Name name("image");
  return name;
}
const Name& path_name() {
  static const Name name("path");
  return name;
}

ImageView view_of(const Tensor& image) {
  if (image.rank() != 3) {
    throw Error("image: a tensor of shape " + image.shape().str() +
                    " is not an image of height x width x channels",
                "call .decode_image() first, and let .layout() be the last operation on images");
  }
  return packed(image.data(), image.dtype(), static_cast<int>(image.dim(0)),
                static_cast<int>(image.dim(1)), static_cast<int>(image.dim(2)));
}

// What a thread keeps from image to image.
struct Tools {
  ImageScratch scratch;
  Buffer file;
};

// Gives the image's memory: its row of the batch if it may be written there, else a fresh tensor.
// After a large image the thread's tools are made anew, for what they hold is in no budget.
struct PixelMemory {
  PixelMemory(const SampleContext& context, const Origin& origin, Tools& tools)
      : row(context.row), room(context, origin), tools(tools) {}
  ~PixelMemory() {
    if (room.is_large()) tools = Tools();
  }
  PixelMemory(const PixelMemory&) = delete;

  const BatchRow* row;
  BudgetedRoom room;
  Tools& tools;
  Tensor result;
  void* operator()(DType dtype, const Shape& shape) {
    void* place = row ? row->place(image_name(), dtype, shape) : nullptr;
    if (!place) room.take(shape[0], shape[1], shape[2], dtype);
    result = place ? Tensor::view(dtype, shape, place, nullptr) : Tensor::empty(dtype, shape);
    return result.data();
  }
};

class ImageOp : public SampleOp {
 public:
  ImageOp(std::vector<ImageStep> steps, std::vector<std::string> words, std::string field,
          uint32_t number, bool from_files)
      : chain_(std::move(steps)),
        words_(std::move(words)),
        field_(field.empty() ? Name("image") : Name(field)),
        automatic_(field.empty()),
        number_(number),
        from_files_(from_files) {
    for (const std::string& word : words_) name_ += (name_.empty() ? "" : "+") + word;
  }

  std::string name() const override { return name_; }
  OpFacts facts() const override {
    return {.name = name_, .reads_files = from_files_ && chain_.decodes(), .pixels = true};
  }

  bool apply(Element& element, const SampleContext& context) const override {
    thread_local Tools tools;
    Origin origin = element.origin();
    PixelMemory memory(context, origin, tools);
    if (!chain_.decodes()) {
      const Tensor& pixels = element[image_name()];
      chain_.run_pixels(view_of(pixels), context.random(number_), tools.scratch, memory,
                        &memory.room);
      element.set(image_name(), std::move(memory.result));
      return true;
    }
    const Name source = automatic_ && !element.find(field_) ? path_name() : field_;
    const Tensor& encoded = element[source];
    std::span<const uint8_t> bytes;
    if (source == path_name()) {
      const std::string path(encoded.bytes());
      read_all(path, tools.file);
      bytes = {reinterpret_cast<const uint8_t*>(tools.file.data()), tools.file.size()};
      origin = {path, -1};
    } else {
      const std::string_view view = encoded.bytes();
      bytes = {reinterpret_cast<const uint8_t*>(view.data()), view.size()};
    }
    chain_.run_encoded(bytes, origin, context.random(number_), tools.scratch, memory, &memory.room);
    if (!(source == image_name())) element.remove(image_name());
    for (Field& f : element.fields()) {
      if (f.name == source) f = {image_name(), std::move(memory.result)};
    }
    return true;
  }

  // This op followed by `next`, if both work on the image alone; null otherwise.
  std::shared_ptr<const ImageOp> then(const ImageOp& next) const {
    if (next.chain_.decodes()) return nullptr;
    std::vector<ImageStep> steps = chain_.steps();
    steps.insert(steps.end(), next.chain_.steps().begin(), next.chain_.steps().end());
    std::vector<std::string> words = words_;
    words.insert(words.end(), next.words_.begin(), next.words_.end());
    return std::make_shared<ImageOp>(std::move(steps), std::move(words),
                                     automatic_ ? "" : field_.str(), number_, from_files_);
  }

 private:
  ImageChain chain_;
  std::vector<std::string> words_;
  std::string name_;
  Name field_;
  bool automatic_;
  uint32_t number_;
  bool from_files_;
};

class ImageNode : public Node {
 public:
  ImageNode(NodePtr input, ImageStep step, std::string field)
      : Node({std::move(input)}), step_(std::move(step)), field_(std::move(field)) {
    description_ = ImageChain({step_}).describe();
    op_ = std::make_shared<ImageOp>(std::vector<ImageStep>{step_}, std::vector<std::string>{word()},
                                    field_, sample_ops_below(*this->input()) + 1,
                                    from_files(*this->input()));
    traits_ = {.indexed = this->input()->indexed(),
               .prefers_stream = this->input()->prefers_stream(),
               .facts = op_->facts()};
  }
  std::string describe() const override { return description_; }
  int64_t cardinality() const override { return input()->cardinality(); }
  SampleOpPtr sample_op() const override { return op_; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<ImageNode>(std::move(inputs[0]), step_, field_);
  }

 private:
  ImageStep step_;
  std::string field_;
  std::string description_;
  SampleOpPtr op_;
};

}  // namespace

NodePtr make_image_step(NodePtr input, ImageStep step, std::string field) {
  return std::make_shared<ImageNode>(std::move(input), std::move(step), std::move(field));
}

std::vector<SampleOpPtr> fuse_image_ops(std::vector<SampleOpPtr> ops) {
  std::vector<SampleOpPtr> fused;
  for (SampleOpPtr& op : ops) {
    const auto* next = dynamic_cast<const ImageOp*>(op.get());
    const auto* last = fused.empty() ? nullptr : dynamic_cast<const ImageOp*>(fused.back().get());
    const auto merged = next && last ? last->then(*next) : nullptr;
    if (merged) {
      fused.back() = merged;
    } else {
      fused.push_back(std::move(op));
    }
  }
  return fused;
}

}  // namespace headway
