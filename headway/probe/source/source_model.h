#pragma once

#include <cstdint>

#include "headway/probe/source/python_source.h"

namespace headway {

// What the last operator of a model does to its numbers.
enum class ModelEnd { kUnknown, kPlain, kSoftmax, kLogSoftmax, kSigmoid, kTanh, kRelu };

struct ModelOutput {
  ModelEnd end = ModelEnd::kUnknown;
  int64_t line = 0;
  int64_t units = 0;  // 0: not known
};

// The output of the model that the source trains: a Keras or PyTorch Sequential, a class with
// forward() or call(), a function of JAX. If there are several, the last one that can be read.
ModelOutput output_of_model(const PythonSource& source);

// What a loss expects from the model.
enum class LossTakes {
  kUnknown,           // none was found, or several that differ
  kLogits,            // plain numbers: the loss applies a softmax itself
  kLogit,             // ... a sigmoid
  kProbabilities,     //
  kLogProbabilities,  //
  kNumbers,           // squares, differences
};
LossTakes taken_by_loss(const PythonSource& source);

}  // namespace headway
