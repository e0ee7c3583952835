// mlx-data through its C++ interface: pixels and normalise per image in its threads, then batch.
// Built against the headers and the library inside the PyPI wheel.
#include <mlx/data/Buffer.h>
#include <mlx/data/Stream.h>

#include <iostream>

#include "measure.h"

namespace {

using mlx::data::Array;
using mlx::data::Sample;
using mlx::data::Stream;
using Pixels = std::shared_ptr<const Array>;

// uint8 HWC to normalised float CHW.
std::shared_ptr<Array> normalise(const Pixels& image) {
  const int64_t height = image->shape(0), width = image->shape(1), plane = height * width;
  auto out = std::make_shared<Array>(mlx::data::ArrayType::Float, 3, height, width);
  const auto* from = static_cast<const uint8_t*>(image->data());
  auto* to = static_cast<float*>(out->data());
  for (int c = 0; c < 3; ++c) {
    const float scale = 1 / (255 * peers::kDeviation[c]);
    const float shift = -peers::kMean[c] / peers::kDeviation[c];
    for (int64_t i = 0; i < plane; ++i) to[c * plane + i] = from[3 * i + c] * scale + shift;
  }
  return out;
}

std::shared_ptr<Array> to_unit(const Pixels& image) {
  auto out = std::make_shared<Array>(mlx::data::ArrayType::Float, image->shape());
  const auto* from = static_cast<const uint8_t*>(image->data());
  auto* to = static_cast<float*>(out->data());
  for (int64_t i = 0; i < image->size(); ++i) to[i] = from[i] * (1 / 255.f);
  return out;
}

Stream pixels(const std::string& task, const Stream& images) {
  if (task == "t1") {
    return images.image_resize_smallest_side("image", 256).image_center_crop("image", 224, 224);
  }
  if (task == "t3") return images.image_resize("image", 64, 64);
  return images.image_random_area_crop("image", {0.08f, 1.f}, {3 / 4.f, 4 / 3.f})
      .image_resize("image", 224, 224)
      .image_random_h_flip("image", 0.5f);
}

peers::Batches open_images(const peers::Arguments& arguments) {
  std::vector<Sample> samples;
  for (const std::string& file : peers::list_images(arguments.images)) {
    samples.push_back({{"image", std::make_shared<Array>(file)}});
  }
  const int size = peers::batch_of(arguments.task);
  auto batches = std::make_shared<Stream>(
      pixels(arguments.task,
             mlx::data::buffer_from_vector(samples).to_stream().repeat(-1).load_image("image"))
          .key_transform("image", arguments.task == "t3" ? to_unit : normalise)
          .prefetch(2 * size, arguments.threads)
          .batch(size)
          .prefetch(2, 1));
  return [batches] {
    if (batches->next().empty()) throw std::runtime_error("the stream ended");
  };
}

int64_t scalar_epoch(const std::vector<Sample>& samples, int threads) {
  Stream stream = mlx::data::buffer_from_vector(samples).to_stream().key_transform(
      "x", [](const std::shared_ptr<const Array>& x) { return std::const_pointer_cast<Array>(x); });
  stream = stream.batch(peers::kScalarsBatch);
  if (threads > 0) stream = stream.prefetch(64, threads);
  int64_t batches = 0;
  while (!stream.next().empty()) ++batches;
  return batches;
}

void scalars(int threads) {
  std::vector<Sample> samples(peers::kScalars);
  for (int64_t i = 0; i < peers::kScalars; ++i) samples[i] = {{"x", std::make_shared<Array>(i)}};
  peers::measure_scalars(
      "mlx-data-cpp", MLX_DATA_VERSION,
      {{"no threads", [&] { return scalar_epoch(samples, 0); }},
       {std::to_string(threads) + " threads", [&] { return scalar_epoch(samples, threads); }}});
}

void run(const peers::Arguments& arguments) {
  if (arguments.version) {
    std::cout << MLX_DATA_VERSION << std::endl;
  } else if (arguments.task == "scalars") {
    scalars(arguments.threads);
  } else {
    peers::measure_images("mlx-data-cpp", MLX_DATA_VERSION, arguments,
                          [&] { return open_images(arguments); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(peers::parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  std::fflush(stdout);
  std::_Exit(0);  // its threads are not waited for
}
