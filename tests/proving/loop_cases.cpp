// Loops of one's own, gone wrong.
#include "headway/train/torch.h"
#include "tests/proving/ground.h"

namespace headway::ground {
namespace {

namespace nn = torch::nn;

struct Net {
  nn::Linear first{256, 128}, second{128, 2};
  std::vector<std::pair<std::string, torch::Tensor>> weights(bool both = true) const {
    std::vector<std::pair<std::string, torch::Tensor>> out{{"first.weight", first->weight},
                                                           {"first.bias", first->bias}};
    if (both) {
      out.emplace_back("second.weight", second->weight);
      out.emplace_back("second.bias", second->bias);
    }
    return out;
  }
};

Dataset batches(const Setup& s) { return rows(s, 512, 256).batch(64); }

torch::Tensor labels(Batch& b) { return to_torch(b["y"]); }

// The first layer's output is taken out of the graph.
void detached_layer(Setup& s) {
  Net net;
  loop(batches(s),
       [&](Batch& b) {
         const torch::Tensor hidden = torch::relu(net.first(to_torch(b["x"]))).detach();
         return torch::nn::functional::cross_entropy(net.second(hidden), labels(b));
       },
       {.optimizer = SGD(1e-2), .parameters = net.weights(), .fit = for_a_while(s)});
}

void detached_loss(Setup& s) {
  Net net;
  loop(batches(s),
       [&](Batch& b) {
         const torch::Tensor out = net.second(torch::relu(net.first(to_torch(b["x"]))));
         return torch::nn::functional::cross_entropy(out.detach(), labels(b));
       },
       {.optimizer = SGD(1e-2), .parameters = net.weights(), .fit = for_a_while(s)});
}

void forgotten_layer(Setup& s) {
  Net net;
  loop(batches(s),
       [&](Batch& b) {
         const torch::Tensor out = net.second(torch::relu(net.first(to_torch(b["x"]))));
         return torch::nn::functional::cross_entropy(out, labels(b));
       },
       {.optimizer = SGD(1e-2), .parameters = net.weights(false), .fit = for_a_while(s)});
}

// Every loss is kept with its graph and looked at again.
void growing_steps(Setup& s) {
  Net net;
  std::vector<torch::Tensor> kept;
  const auto every = static_cast<size_t>(std::max(1.0, 2 / s.level));
  size_t step = 0;
  loop(batches(s),
       [&](Batch& b) {
         const torch::Tensor out = net.second(torch::relu(net.first(to_torch(b["x"]))));
         const torch::Tensor loss = torch::nn::functional::cross_entropy(out, labels(b));
         if (++step % every == 0) kept.push_back(loss.detach() * 1.0);
         torch::Tensor mean = torch::zeros({});
         for (int again = 0; again < 3; ++again)
           for (const torch::Tensor& old : kept) mean = mean + old;
         return loss + 0 * mean;
       },
       {.optimizer = SGD(1e-2), .parameters = net.weights(), .fit = for_a_while(s)});
}

// A logarithm of what becomes 0.
void log_of_zero(Setup& s) {
  Net net;
  loop(batches(s),
       [&](Batch& b) {
         const torch::Tensor x = to_torch(b["x"]);
         const torch::Tensor out = torch::softmax(300 * net.second(torch::relu(net.first(x))), 1);
         return -out.log().gather(1, labels(b).unsqueeze(1)).mean();
       },
       {.optimizer = SGD(1e-2), .parameters = net.weights(), .fit = for_a_while(s)});
}

}  // namespace

std::vector<Case> loop_cases() {
  return {
      {"detached-layer", "gradient-not-connected", detached_layer},
      {"detached-loss", "gradient-not-connected", detached_loss},
      {"forgotten-layer", "weights-not-updated", forgotten_layer},
      {"growing-steps", "step-time-grows", growing_steps},
      {"log-of-zero", "nan-loss", log_of_zero, "", "exploding-gradients"},
  };
}

}  // namespace headway::ground
