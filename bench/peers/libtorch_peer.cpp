// libtorch's C++ DataLoader with OpenCV. The dataset fills its batch tensor in place, which spares
// it the usual Stack; T1 crops before it resizes, so that less is resized.
#include <torch/torch.h>
#include <torch/version.h>

#include <cmath>
#include <iostream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <random>

#include "measure.h"

namespace {

using torch::data::DataLoaderOptions;

cv::Mat decode(const std::string& path) {
  cv::Mat image = cv::imread(path, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  if (image.empty()) throw std::runtime_error("cannot read " + path);
  return image;
}

cv::Rect centre(const cv::Mat& image) {
  const int side = std::min(image.rows, image.cols) * 224 / 256;
  return {(image.cols - side) / 2, (image.rows - side) / 2, side, side};
}

cv::Rect random_area(const cv::Mat& image, std::mt19937& random) {
  std::uniform_real_distribution<float> share(0.08f, 1.f),
      log_aspect(std::log(.75f), std::log(4 / 3.f));
  const float area = image.rows * image.cols * share(random);
  const float aspect = std::exp(log_aspect(random));
  const int width = std::clamp<int>(std::sqrt(area * aspect), 1, image.cols);
  const int height = std::clamp<int>(std::sqrt(area / aspect), 1, image.rows);
  return {static_cast<int>(random() % (image.cols - width + 1)),
          static_cast<int>(random() % (image.rows - height + 1)), width, height};
}

// BGR rows to normalised RGB planes.
void normalise(const cv::Mat& image, float* out) {
  const int64_t plane = image.total();
  for (int c = 0; c < 3; ++c) {
    const float scale = 1 / (255 * peers::kDeviation[c]);
    const float shift = -peers::kMean[c] / peers::kDeviation[c];
    const uint8_t* from = image.data + (2 - c);
    for (int64_t i = 0; i < plane; ++i) out[c * plane + i] = from[3 * i] * scale + shift;
  }
}

void to_unit(const cv::Mat& image, float* out) {
  for (size_t i = 0; i < image.total(); ++i) {
    for (int c = 0; c < 3; ++c) out[3 * i + c] = image.data[3 * i + 2 - c] * (1 / 255.f);
  }
}

// One image of the task into its slot of the batch.
void prepare(const std::string& task, const std::string& path, std::mt19937& random, float* slot) {
  const cv::Mat image = decode(path);
  cv::Mat small;
  if (task == "t3") {
    cv::resize(image, small, {64, 64});
    return to_unit(small, slot);
  }
  const cv::Rect crop = task == "t1" ? centre(image) : random_area(image, random);
  cv::resize(image(crop), small, {224, 224});
  if (task == "t2" && random() % 2) cv::flip(small, small, 1);
  normalise(small, slot);
}

class Images : public torch::data::datasets::BatchDataset<Images, torch::Tensor> {
 public:
  Images(std::string task, std::vector<std::string> files)
      : task_(std::move(task)), files_(std::move(files)) {}

  torch::Tensor get_batch(c10::ArrayRef<size_t> indices) override {
    thread_local std::mt19937 random(std::random_device{}());
    const int64_t n = indices.size();
    torch::Tensor batch =
        task_ == "t3" ? torch::empty({n, 64, 64, 3}) : torch::empty({n, 3, 224, 224});
    const int64_t stride = batch.numel() / n;
    for (int64_t i = 0; i < n; ++i) {
      prepare(task_, files_[indices[i] % files_.size()], random,
              batch.data_ptr<float>() + i * stride);
    }
    return batch;
  }
  c10::optional<size_t> size() const override { return size_t{1} << 20; }  // never ends

 private:
  std::string task_;
  std::vector<std::string> files_;
};

class Scalars : public torch::data::datasets::Dataset<Scalars, torch::data::TensorExample> {
 public:
  torch::data::TensorExample get(size_t index) override { return values_[index]; }
  c10::optional<size_t> size() const override { return peers::kScalars; }

 private:
  torch::Tensor values_ = torch::arange(peers::kScalars);
};

peers::Batches open_images(const peers::Arguments& arguments) {
  auto loader =
      std::shared_ptr(torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
          Images(arguments.task, peers::list_images(arguments.images)),
          DataLoaderOptions()
              .batch_size(peers::batch_of(arguments.task))
              .workers(arguments.threads)));
  auto at = std::make_shared<decltype(loader->begin())>(loader->begin());
  auto taken = std::make_shared<bool>(false);
  return [loader, at, taken] {
    if (std::exchange(*taken, true)) ++*at;
    (void)**at;
  };
}

int64_t scalar_epoch(int workers) {
  using Example = torch::data::TensorExample;
  auto dataset = Scalars()
                     .map(torch::data::transforms::Lambda<Example>([](Example x) { return x; }))
                     .map(torch::data::transforms::Stack<Example>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(dataset), DataLoaderOptions().batch_size(peers::kScalarsBatch).workers(workers));
  int64_t batches = 0;
  for (const Example& batch : *loader) batches += batch.data.size(0) == peers::kScalarsBatch;
  return batches;
}

void run(const peers::Arguments& arguments) {
  if (arguments.version) {
    std::cout << TORCH_VERSION << std::endl;
  } else if (arguments.task == "scalars") {
    peers::measure_scalars("libtorch", TORCH_VERSION,
                           {{"no workers", [] { return scalar_epoch(0); }},
                            {std::to_string(arguments.threads) + " workers",
                             [&] { return scalar_epoch(arguments.threads); }}});
  } else {
    peers::measure_images("libtorch", TORCH_VERSION, arguments,
                          [&] { return open_images(arguments); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  cv::setNumThreads(0);
  torch::set_num_threads(1);
  try {
    run(peers::parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  std::cout.flush();
  std::fflush(stdout);
  std::_Exit(0);  // the endless epoch is not drained
}
