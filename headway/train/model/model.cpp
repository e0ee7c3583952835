#include "headway/train/model/model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/io/records/safetensors.h"
#include "headway/train/device/device.h"
#include "headway/train/device/tensor_bridge.h"
#include "headway/train/model/model_impl.h"

namespace headway {

Model::Impl::Impl(std::vector<Layer> layers, ModelOptions options)
    : layers(std::move(layers)),
      options(std::move(options)),
      device_name(choose_device(this->options.device)),
      device(device_name) {
  const DType dtype = this->options.dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    throw Error(fmt::format("invalid dtype {} of a model", name_of(dtype)),
                "set .dtype in ModelOptions to DType::kFloat32 or DType::kFloat64");
  }
  plan_if_possible();
}

void Model::Impl::plan_if_possible() {
  if (layers.empty()) throw Error("the model has no layers", "add a layer, such as Dense(10)");
  const LayerNode& first = layers[0].node();
  if (first.kind() == "Input") plan = plan_network(layers, first.output_shape({}));
}

void Model::Impl::build(const Shape& input) {
  if (network) return;
  if (plan.empty()) plan = plan_network(layers, input);
  refuse_too_large(options.name, memory(1), device_name, free_memory_bytes(device_name));
  network.emplace(plan, torch_type(options.dtype), device, options.seed);
}

void Model::Impl::build_for(const Batch& batch, FieldNames fields) {
  fields = resolve_fields(std::move(fields), batch, false);
  const Tensor& x = batch[fields.input];
  if (x.rank() == 0) {
    throw Error(fmt::format("'{}' is a single number, not a batch", fields.input),
                "add .batch(32) to the dataset");
  }
  build(x.shape().without_outer());
}

Network& Model::Impl::built_network() {
  if (!network) {
    if (plan.empty()) {
      throw Error(fmt::format("the shapes of the model '{}' are not known yet", options.name),
                  "make Input({...}) the first layer, or call build() with the shape of a sample "
                  "first");
    }
    build(plan[0].input);
  }
  return *network;
}

const CompileOptions& Model::Impl::compiled_options(const char* verb) const {
  if (!compiled) {
    throw Error(fmt::format("{} was called before compile", verb),
                "call compile({.optimizer = ..., .loss = ...}) first");
  }
  return *compiled;
}

MemoryPlan Model::Impl::memory(int64_t batch_size) const {
  return plan_memory(plan, compiled ? &compiled->optimizer : nullptr, value_bytes(), batch_size);
}

std::string Model::Impl::describe() const {
  std::string text = options.name + ":";
  for (const LayerPlan& l : plan) {
    text += fmt::format(" {} {}", l.layer.node().kind(), l.output.str());
  }
  if (compiled) {
    text += fmt::format("; {}; {}", compiled->optimizer.describe(), compiled->loss.name());
  }
  return text;
}

NamedWeight* Model::Impl::find(const std::string& name) {
  for (const NamedWeight& w : built_network().weights())
    if (w.name == name) return const_cast<NamedWeight*>(&w);
  return nullptr;
}

Model::Model(std::vector<Layer> layers, ModelOptions options)
    : impl_(std::make_unique<Impl>(std::move(layers), std::move(options))) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

void Model::build(const Shape& input) { impl_->build(input); }
bool Model::built() const { return impl_->network.has_value(); }
const std::string& Model::name() const { return impl_->options.name; }
const std::string& Model::device() const { return impl_->device_name; }

void Model::compile(CompileOptions options) {
  options.loss.check_fits(impl_->layers.back().node().activation());
  impl_->compiled = std::move(options);
}

std::string Model::summary(SummaryOptions options) const {
  if (impl_->plan.empty()) {
    throw Error(fmt::format("the shapes of the model '{}' are not known yet", name()),
                "make Input({...}) the first layer, or call build() with the shape of a sample "
                "first");
  }
  const auto& compiled = impl_->compiled;
  return summary_table(name(), impl_->plan, impl_->memory(options.batch_size),
                       compiled ? compiled->optimizer.describe() : "not compiled",
                       options.batch_size);
}

int64_t Model::parameter_count() const { return impl_->memory(1).parameters; }

std::vector<std::string> Model::weight_names() const {
  std::vector<std::string> names;
  for (const NamedWeight& w : impl_->built_network().weights()) names.push_back(w.name);
  return names;
}

Tensor Model::weight(const std::string& name) const {
  const NamedWeight* w = impl_->find(name);
  if (!w)
    throw Error(fmt::format("the model has no weight '{}'", name),
                "use one of the names that weight_names() lists");
  return from_torch(w->value.detach().clone());
}

void Model::set_weight(const std::string& name, const Tensor& value) {
  const NamedWeight* w = impl_->find(name);
  if (!w)
    throw Error(fmt::format("the model has no weight '{}'", name),
                "use one of the names that weight_names() lists");
  at::Tensor to = w->value;
  const Shape shape = shape_of(to);
  if (!(value.shape() == shape)) {
    throw Error(fmt::format("the weight '{}' has shape {}, but the new value has shape {}", name,
                            shape.str(), value.shape().str()),
                "give a value of the same shape");
  }
  const c10::NoGradGuard guard;
  to.copy_(to_torch(value));
}

void Model::save_weights(const std::string& path) const {
  write_weights(path, impl_->built_network().weights());
}

void Model::load_weights(const std::string& path) {
  const Safetensors content = read_safetensors(path);
  for (const std::string& name : weight_names()) {
    const Tensor* value = content.find(name);
    if (!value)
      throw Error(fmt::format("{} has no '{}'", path, name), "the file may be of another model");
    try {
      set_weight(name, *value);
    } catch (const Error& e) {
      throw Error(path + ": " + e.problem(), "the file may be of another model");
    }
  }
}

Model Sequential(std::vector<Layer> layers, ModelOptions options) {
  return Model(std::move(layers), std::move(options));
}

}  // namespace headway
