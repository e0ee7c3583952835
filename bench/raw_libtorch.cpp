#include "bench/raw_libtorch.h"

#include <torch/torch.h>

namespace headway::bench {
namespace {

namespace nn = torch::nn;

nn::Sequential vgg16() {
  nn::Sequential net;
  int64_t channels = 3;
  for (const auto& [filters, count] : {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < count; ++i) {
      net->push_back(nn::Conv2d(nn::Conv2dOptions(channels, filters, 3).padding(1)));
      net->push_back(nn::ReLU(nn::ReLUOptions().inplace(true)));
      channels = filters;
    }
    net->push_back(nn::MaxPool2d(2));
  }
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(512 * 7 * 7, 4096));
  net->push_back(nn::ReLU(nn::ReLUOptions().inplace(true)));
  net->push_back(nn::Linear(4096, 4096));
  net->push_back(nn::ReLU(nn::ReLUOptions().inplace(true)));
  net->push_back(nn::Linear(4096, 1000));
  return net;
}

nn::Sequential network(const std::string& model) {
  if (model == "dense") {
    return nn::Sequential(nn::Linear(784, 128), nn::ReLU(), nn::Linear(128, 10));
  }
  if (model == "conv") {
    return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 32, 3)), nn::ReLU(), nn::MaxPool2d(2),
                          nn::Flatten(), nn::Linear(31 * 31 * 32, 10));
  }
  return vgg16();
}

torch::Tensor view_of(const Tensor& t) {
  const Shape shape = t.shape();
  return torch::from_blob(const_cast<void*>(t.data()), at::IntArrayRef(shape.begin(), shape.rank()),
                          t.dtype() == DType::kFloat32 ? torch::kFloat : torch::kLong);
}

}  // namespace

struct RawTraining::Impl {
  torch::Tensor x, y, order;
  int64_t batch, at = 0;
  bool channels_last;
  nn::Sequential net{nullptr};
  std::unique_ptr<torch::optim::Adam> adam;
  double loss = 0, correct = 0, total = 0;
};

RawTraining::RawTraining(const std::string& model, const Tensor& x, const Tensor& y, int64_t batch,
                         bool channels_last)
    : impl_(std::make_unique<Impl>()) {
  Impl& t = *impl_;
  t.x = view_of(x);
  t.y = view_of(y);
  t.batch = batch;
  t.channels_last = channels_last && t.x.dim() == 4;
  if (t.x.dim() == 4 && !t.channels_last) t.x = t.x.permute({0, 3, 1, 2}).contiguous();
  t.net = network(model);
  if (t.channels_last) {
    for (torch::Tensor& p : t.net->parameters()) {
      if (p.dim() == 4) p.set_data(p.data().contiguous(torch::MemoryFormat::ChannelsLast));
    }
  }
  t.adam =
      std::make_unique<torch::optim::Adam>(t.net->parameters(), torch::optim::AdamOptions(1e-3));
  t.order = torch::randperm(t.x.size(0));
}

RawTraining::~RawTraining() = default;
double RawTraining::loss() const { return impl_->loss; }

void RawTraining::step() {
  Impl& t = *impl_;
  if (t.at >= t.x.size(0)) {
    t.order = torch::randperm(t.x.size(0));
    t.at = 0;
  }
  const int64_t end = std::min(t.at + t.batch, t.x.size(0));
  const torch::Tensor rows = t.order.slice(0, t.at, end);
  t.at = end;
  torch::Tensor x = t.x.index_select(0, rows);
  if (t.channels_last) x = x.permute({0, 3, 1, 2});
  const torch::Tensor y = t.y.index_select(0, rows);
  t.adam->zero_grad();
  const torch::Tensor out = t.net->forward(x);
  const torch::Tensor loss = torch::nn::functional::cross_entropy(out, y);
  loss.backward();
  t.adam->step();
  t.loss = loss.item<double>();
  t.correct += out.detach().argmax(1).eq(y).sum().item<double>();
  t.total += double(y.size(0));
}

}  // namespace headway::bench
