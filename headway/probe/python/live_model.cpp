#include "headway/probe/python/live_model.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "headway/core/clock.h"
#include "headway/probe/python/numpy_array.h"
#include "headway/trace/redact.h"
#include "headway/trace/trace.h"

namespace headway {
namespace {

constexpr double kEveryS = 1, kMostOfACore = 0.002;
constexpr int kDeepest = 12, kDeepestTree = 4;
constexpr size_t kMostFrames = 60, kMostWeights = 1000, kMostTracked = 40, kMostArrays = 400;
constexpr size_t kMostKinds = 4000, kMostLooks = 120;
constexpr int64_t kSampled = 128;  // values of a weight
constexpr double kTinyRate = 1e-4;
constexpr int64_t kMostGroups = 64, kMostHeld = 4000;
constexpr size_t kMostNumpyArrays = 20;

// Variables that hold the parameters JAX trains; all other arrays may be data.
bool names_parameters(const std::string& name) {
  for (const char* word : {"param", "state", "weights", "theta", "variables", "carry"})
    if (name.find(word) != std::string::npos) return name.find("opt") == std::string::npos;
  return false;
}

// A name as used in code. Other texts by which a target calls its weights are not stored.
std::string plain_name(const std::string& name) {
  constexpr size_t kLongest = 80;
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.';
  });
  return plain && name.size() <= kLongest ? name : "";
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? -1 : std::sqrt(sum / double(values.size()));
}

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

LiveModel::Kind LiveModel::kind_of(uint64_t object) {
  const uint64_t type = attributes_.type_of(object);
  if (type == 0) return Kind::kOther;
  const auto known = kinds_.find(type);
  if (known != kinds_.end()) return known->second;
  if (kinds_.size() > kMostKinds) kinds_.clear();
  Kind kind = Kind::kOther;
  const bool keras = attributes_.is_a(type, "KerasSaveable") || attributes_.is_a(type, "Trackable");
  if (keras && attributes_.is_a(type, "Layer")) kind = Kind::kLayer;
  else if (attributes_.is_a(type, "Module")) kind = Kind::kModule;
  else if (attributes_.is_a(type, "Optimizer") || attributes_.is_a(type, "BaseOptimizer"))
    kind = Kind::kOptimizer;
  else if (is_variable(object)) kind = Kind::kVariable;
  else if (attributes_.is_a(type, "Trainer")) kind = Kind::kTrainer;
  return kinds_[type] = kind;
}

// The parameters of a module and of its submodules, with their names.
void LiveModel::list_weights(uint64_t module, const std::string& path, int depth, Found& found) {
  if (depth > kDeepest || found.weights.size() >= kMostWeights) return;
  if (!found.modules.insert(module).second) return;
  uint64_t parameters = 0, modules = 0;
  for (const auto& [name, value] : attributes_.all_of(module)) {
    if (name == "_parameters") parameters = value;
    if (name == "_modules") modules = value;
    if (name.ends_with("_hooks")) found.hooks += attributes_.size_of(value);
  }
  if (parameters != 0)
    for (const auto& [name, value] : attributes_.named_entries_of(parameters))
      if (found.weights.size() < kMostWeights) found.weights.push_back({value, path + name});
  if (modules != 0)
    for (const auto& [name, value] : attributes_.named_entries_of(modules))
      if (kind_of(value) == Kind::kModule) list_weights(value, path + name + ".", depth + 1, found);
}

// A tf.Variable, or a variable of Keras that holds one.
bool LiveModel::is_variable(uint64_t object) {
  const uint64_t type = attributes_.type_of(object);
  if (attributes_.is_a(type, "BaseResourceVariable")) return true;
  if (!attributes_.is_a(type, "KerasVariable") && !attributes_.is_a(type, "Variable")) return false;
  const uint64_t inner = attributes_.get(object, "_value").value_or(0);
  return attributes_.is_a(attributes_.type_of(inner), "BaseResourceVariable");
}

bool LiveModel::is_trainable(uint64_t variable) {
  const auto said = attributes_.get(variable, "_trainable");
  return !said || attributes_.number(*said) != 0.0;
}

std::optional<LiveTensor> LiveModel::value_of(uint64_t variable) {
  const uint64_t inner = attributes_.get(variable, "_value").value_or(variable);
  const auto handle = attributes_.get(inner, "_handle");
  return handle ? tensorflow_.value_behind(*handle) : std::nullopt;
}

// The trainable variables of a Keras layer and of the layers in it: a model is one, too.
void LiveModel::list_layer(uint64_t layer, const std::string& path, int depth, Found& found) {
  if (depth > kDeepest || found.weights.size() >= kMostWeights) return;
  if (!found.modules.insert(layer).second) return;
  const bool embedding = attributes_.is_a(attributes_.type_of(layer), "Embedding");
  uint64_t own = 0, layers = 0, optimizer = 0;
  std::string name;
  for (const auto& [attribute, value] : attributes_.all_of(layer)) {
    if (attribute == "_trainable_variables" || attribute == "_trainable_weights") own = value;
    if (attribute == "_layers" || attribute == "_self_tracked_trackables") layers = value;
    if (attribute == "optimizer") optimizer = value;
    if (attribute == "name" || attribute == "_name") name = attributes_.text(value);
  }
  const std::string here = depth == 0 ? "" : path + name + ".";
  for (const uint64_t variable : attributes_.items_of(own, kMostHeld))
    add_variable(variable, here, embedding, found);
  for (const uint64_t inner : attributes_.items_of(layers, kMostHeld))
    if (kind_of(inner) == Kind::kLayer) list_layer(inner, here, depth + 1, found);
  if (optimizer != 0 && kind_of(optimizer) == Kind::kOptimizer) read_optimizer(optimizer, found);
}

void LiveModel::add_variable(uint64_t variable, const std::string& name, bool embedding,
                             Found& found) {
  if (kind_of(variable) != Kind::kVariable || !is_trainable(variable)) return;
  if (found.weights.size() >= kMostWeights) return;
  const std::string own = attributes_.text(attributes_.get(variable, "_name").value_or(0));
  found.weights.push_back({variable, name + own, embedding});
}

// Variables of TensorFlow in a list, tuple or dict of the user's.
void LiveModel::list_variables(uint64_t object, const std::string& name, Found& found) {
  const std::string kind = attributes_.type_name(attributes_.type_of(object));
  if (kind == "list" || kind == "tuple" || kind == "ListWrapper")
    for (const uint64_t item : attributes_.items_of(object, kMostHeld))
      add_variable(item, name, false, found);
  if (kind == "dict" || kind == "_DictWrapper")
    for (const auto& [key, value] : attributes_.named_entries_of(object))
      add_variable(value, key, false, found);
}

void LiveModel::note_rate(std::optional<double> rate) {
  if (!rate || !std::isfinite(*rate) || *rate < 0) return;
  seen_.rate = *rate;
  seen_.highest_rate = std::max(seen_.highest_rate, *rate);
}

bool LiveModel::read_keras_optimizer(uint64_t optimizer, Found& found) {
  const auto held = attributes_.get(optimizer, "_trainable_variables");
  if (!held) return false;
  for (const uint64_t variable : attributes_.items_of(*held, kMostHeld))
    if (kind_of(variable) == Kind::kVariable) found.held.insert(variable);
  const uint64_t rate = attributes_.get(optimizer, "_learning_rate").value_or(0);
  const auto tensor = rate != 0 && kind_of(rate) == Kind::kVariable ? value_of(rate) : std::nullopt;
  if (!tensor || !tensor->sizes.empty()) return true;
  if (const auto value = values_.some_of(*tensor, 1); !value.empty()) note_rate(value[0]);
  return true;
}

void LiveModel::read_optimizer(uint64_t optimizer, Found& found) {
  if (!found.optimizers.insert(optimizer).second) return;
  const uint64_t groups = attributes_.get(optimizer, "param_groups").value_or(0);
  if (groups == 0) {
    for (const char* wrapped : {"optimizer", "inner_optimizer"}) {
      const uint64_t inner = attributes_.get(optimizer, wrapped).value_or(0);
      if (inner != 0 && kind_of(inner) == Kind::kOptimizer) return read_optimizer(inner, found);
    }
    if (!read_keras_optimizer(optimizer, found)) return;
  }
  for (const uint64_t group : attributes_.items_of(groups, kMostGroups)) {
    for (const auto& [name, value] : attributes_.named_entries_of(group)) {
      if (name == "params")
        for (const uint64_t held : attributes_.items_of(value, kMostHeld)) found.held.insert(held);
      if (name == "lr") note_rate(attributes_.number(value));
    }
  }
  const std::string name = attributes_.type_name(attributes_.type_of(optimizer));
  seen_.optimizer = plain_name(name);
  seen_.plain_steps = attributes_.is_a(attributes_.type_of(optimizer), "SGD");
}

// Arrays at the leaves of dicts, lists, tuples and objects.
void LiveModel::list_arrays(uint64_t object, int depth, std::set<uint64_t>& arrays) {
  if (depth > kDeepestTree || arrays.size() >= kMostArrays) return;
  const uint64_t type = attributes_.type_of(object);
  const std::string name = attributes_.type_name(type);
  if (name.ends_with("ArrayImpl")) {
    arrays.insert(object);
  } else if (name == "dict") {
    for (const auto& [key, value] : attributes_.named_entries_of(object))
      list_arrays(value, depth + 1, arrays);
  } else if (name == "list" || attributes_.is_a(type, "tuple")) {
    for (const uint64_t item : attributes_.items_of(object, kMostHeld))
      list_arrays(item, depth + 1, arrays);
  } else if (depth < 2) {
    for (const auto& [key, value] : attributes_.all_of(object))
      if (names_parameters(key)) list_arrays(value, depth + 1, arrays);
  }
}

void LiveModel::find_in(const PythonFrame& frame, Found& found) {
  const auto take = [&](uint64_t object) {
    const Kind kind = kind_of(object);
    if (kind == Kind::kModule) list_weights(object, "", 0, found);
    if (kind == Kind::kLayer) list_layer(object, "", 0, found);
    if (kind == Kind::kOptimizer) read_optimizer(object, found);
    return kind;
  };
  for (const auto& [name, object] : attributes_.variables_of(frame)) {
    const Kind kind = take(object);
    if (frame.code->users && found.numpy_arrays.size() < kMostNumpyArrays &&
        attributes_.type_name(attributes_.type_of(object)).ends_with("ndarray"))
      found.numpy_arrays.emplace_back(name, object);
    if (frame.code->users && kind == Kind::kVariable) add_variable(object, "", false, found);
    if (frame.code->users && names_parameters(name)) {
      list_arrays(object, 0, found.arrays);
      list_variables(object, "", found);
    }
    // Attributes of an object of the user's, or of a trainer.
    const bool holds = name == "self" && kind == Kind::kOther && frame.code->users;
    if (holds || kind == Kind::kTrainer)
      for (const auto& [attribute, value] : attributes_.all_of(object)) {
        take(value);
        if (holds && names_parameters(attribute)) {
          list_arrays(value, 0, found.arrays);
          list_variables(value, "", found);
        }
      }
  }
}

// The input of forward(self, input) of PyTorch's own layers, if `self` is the first one with
// weights and does not scale its input.
void LiveModel::find_input(const PythonFrame& frame, Found& found) {
  const PythonCode& code = *frame.code;
  const bool layer = !code.users && code.function.ends_with("forward") &&
                     code.file.find("torch/nn/modules/") != std::string::npos;
  if (!layer || found.weights.empty() || found.input != 0) return;
  uint64_t self = 0, input = 0;
  for (const auto& [name, object] : attributes_.variables_of(frame)) {
    if (name == "self") self = object;
    if (name == "input") input = object;
  }
  const std::string kind = attributes_.type_name(attributes_.type_of(self));
  if (kind.find("Norm") != std::string::npos || kind == "Embedding") return;
  const uint64_t parameters = attributes_.get(self, "_parameters").value_or(0);
  const auto kernel = attributes_.entry(parameters, "weight");
  if (kernel && *kernel == found.weights[0].object) found.input = input;
}

void LiveModel::read_input(const Found& found, NumbersReading& sample) {
  const auto tensor = found.input != 0 ? torch_.of_object(found.input) : std::nullopt;
  if (!tensor || !tensor->is_real()) return;
  const std::vector<double> values = values_.some_of(*tensor, kSampled);
  if (values.size() < 2 || !is_finite(values)) return;
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  sample.input_mean = sum / double(values.size());
  for (const double value : values) squares += std::pow(value - sample.input_mean, 2);
  sample.input_std = std::sqrt(squares / double(values.size()));
}

// Large ones with rows and columns may be the data; which of them are fed is not known.
void LiveModel::read_arrays(const Found& found) {
  constexpr int64_t kLarge = 1000;
  for (const auto& [name, object] : found.numpy_arrays) {
    const auto array = numpy_array(memory_, object);
    if (!array || !array->is_kernel() || array->values < kLarge) continue;
    const std::vector<double> values = values_.some_of(*array, kSampled);
    const double size = root_mean_square(values);
    if (!is_finite(values) || size <= seen_.array_size) continue;
    seen_.array_size = size;
    seen_.array_name = names_a_secret(name) ? "" : plain_name(name);
  }
}

// Begins at the outermost frame: there the model is complete.
LiveModel::Found LiveModel::find(const PythonThread& thread) {
  Found found;
  const size_t count = std::min(thread.frames.size(), kMostFrames);
  for (size_t i = 0; i < count; ++i) {
    if (memory_.stopped()) break;
    find_in(thread.frames[thread.frames.size() - 1 - i], found);
    find_input(thread.frames[thread.frames.size() - 1 - i], found);
  }
  return found;
}

std::optional<LiveTensor> LiveModel::tensor_of(uint64_t object) {
  return kind_of(object) == Kind::kVariable ? value_of(object) : torch_.of_object(object);
}

void LiveModel::read_weights(const Found& found, NumbersReading& sample) {
  std::set<uint64_t> in_model;
  std::vector<NamedWeight> all = found.weights;
  for (const NamedWeight& each : all) in_model.insert(each.object);
  for (const uint64_t object : found.held)
    if (!in_model.count(object)) all.push_back({object});
  const size_t every = all.size() / kMostTracked + 1;
  for (size_t i = 0; i < all.size(); i += every) {
    const auto& [object, name, embedding] = all[i];
    const auto tensor = tensor_of(object);
    if (!tensor || tensor->values == 0 || !tensor->is_real()) continue;
    if (!tracked_.count(object) && tracked_.size() >= 2 * kMostTracked) continue;
    const std::vector<double> values = values_.some_of(*tensor, kSampled);
    auto [at, is_new] = tracked_.try_emplace(object);
    Weight& weight = at->second;
    if (is_new) {
      weight.first = values, weight.first_version = tensor->version;
      order_.push_back(object);
      const bool kernel = tensor->is_kernel() && !embedding;
      facts_.push_back(
          {.name = plain_name(name),
           .values = tensor->values,
           .fan_in = kernel && tensor->units() > 0 ? tensor->values / tensor->units() : 0,
           .kernel = kernel});
    }
    const size_t index = size_t(std::find(order_.begin(), order_.end(), object) - order_.begin());
    weight.in_model |= in_model.count(object) > 0;
    weight.in_optimizer |= found.held.count(object) > 0;  // not visible from every frame
    // If the values cannot be read (on a GPU), only the version shows that they were written, and a
    // CUDA graph writes without changing it.
    weight.read |= !values.empty();
    if (weight.first.empty()) weight.first = values;
    weight.moved |=
        values.empty() ? tensor->version != weight.first_version : values != weight.first;
    if (!values.empty() && !is_finite(values)) ++seen_.not_finite;
    facts_[index].identical_units = values_.units_are_equal(*tensor);
    sample.weights.resize(order_.size(), -1);
    sample.weights[index] = root_mean_square(values);
    seen_.hides_gradients = kind_of(object) == Kind::kVariable;
    if (seen_.hides_gradients) continue;
    sample.gradients.resize(order_.size(), -1);
    const auto gradient = tensor->gradient != 0 ? torch_.at(tensor->gradient) : std::nullopt;
    if (!gradient || gradient->values != tensor->values) continue;
    weight.got_gradient = true;
    sample.gradients[index] = root_mean_square(values_.some_of(*gradient, kSampled));
  }
}

// A gradient that is 0 now but not at other times was cleared, and the backward pass has not
// reached it yet: it says nothing.
void LiveModel::leave_out_cleared(NumbersReading& sample) {
  had_gradient_.resize(sample.gradients.size());
  for (size_t i = 0; i < sample.gradients.size(); ++i) {
    if (sample.gradients[i] == 0 && had_gradient_[i]) sample.gradients[i] = -1;
    if (sample.gradients[i] <= 0 || had_gradient_[i]) continue;
    had_gradient_[i] = true;
    for (NumbersReading& earlier : numbers_)
      if (i < earlier.gradients.size() && earlier.gradients[i] == 0) earlier.gradients[i] = -1;
  }
}

void LiveModel::count(int64_t step) {
  seen_.steps = step - first_step_;
  seen_.weights = seen_.held = seen_.held_in_model = seen_.moved = seen_.with_gradient = 0;
  seen_.left_out = 0;
  int64_t held_moved = 0;
  for (const auto& [object, weight] : tracked_) {
    if (!weight.read && !weight.moved) continue;
    seen_.weights += weight.in_model;
    seen_.held += weight.in_optimizer;
    seen_.held_in_model += weight.in_model && weight.in_optimizer;
    seen_.moved += weight.moved && weight.in_model;
    held_moved += weight.moved && weight.in_optimizer;
    seen_.with_gradient += weight.got_gradient;
    seen_.left_out +=
        weight.in_model && weight.got_gradient && !weight.in_optimizer && !weight.moved;
  }
  if (seen_.weights == 0) seen_.moved = held_moved;
  const bool tiny = seen_.rate >= 0 && seen_.rate < kTinyRate * seen_.highest_rate;
  seen_.tiny_rates = tiny ? seen_.tiny_rates + 1 : 0;
}

// Only while the same modules are visible: from some frames fewer are.
void LiveModel::count_hooks(const Found& found) {
  if (found.modules.size() < most_modules_) return;
  if (found.modules.size() > most_modules_) seen_.first_hooks = found.hooks, seen_.hooks_grew = 0;
  else seen_.hooks_grew += found.hooks > seen_.hooks;
  most_modules_ = found.modules.size();
  seen_.hooks = found.hooks;
}

void LiveModel::look(const PythonThread& thread, double now_s, int64_t step) {
  if (now_s < next_s_ || thread.frames.empty()) return;
  const int64_t before = thread_cpu_ns();
  const Found found = find(thread);
  const bool weights = !found.weights.empty() || !found.held.empty();
  if (weights || !found.arrays.empty()) {
    if (first_step_ < 0) first_step_ = step, arrays_ = found.arrays;
    NumbersReading sample{.step = step, .at_s = now_s};
    read_weights(found, sample);
    read_input(found, sample);
    read_arrays(found);
    leave_out_cleared(sample);
    count(step);
    count_hooks(found);
    ++seen_.looks;
    if (!weights) {
      seen_.weights = int64_t(arrays_.size());
      seen_.replaced |=
          !std::includes(arrays_.begin(), arrays_.end(), found.arrays.begin(), found.arrays.end());
      seen_.arrays = int64_t(arrays_.size());
    }
    if (weights) numbers_.push_back(std::move(sample));
    thin_out(numbers_, kMostLooks);
  }
  const double cost = 1e-9 * double(thread_cpu_ns() - before);
  next_s_ = now_s + std::max(kEveryS, cost / kMostOfACore);
}

}  // namespace headway
