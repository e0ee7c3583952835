// A class in the manner of keras.utils.Sequence has a length, items by number and a word for the
// end of an epoch. Called by the training thread, each item holds the training up; as
// range(n).map(...) the same class runs on workers, and what goes wrong in it comes out with the
// item's number instead of a wait without end (seed example 004-1). Prints:
//
//   by hand:      7 items, 7 of them made by the training thread
//   as a dataset: 7 items, 0 of them made by the training thread; the same images: yes
//   next epoch:   the same 100 images in another order: yes
//   a bad file:   map: item 3: img_48.png: decode+resize: cannot open: No such file or directory
#include <headway/headway.h>
#include <headway/io/bytes/temp_folder.h>
#include <headway/io/images/png.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <random>
#include <thread>

using namespace headway;

class ImageSequence {
 public:
  explicit ImageSequence(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  int64_t size() const { return (static_cast<int64_t>(paths_.size()) + 15) / 16; }
  // A batch of 16 images. Changes nothing, so any number of threads may call it.
  Element at(int64_t i) const {
    if (std::this_thread::get_id() == training_thread_) ++made_by_training;
    const auto first = paths_.begin() + 16 * i;
    const std::vector some(first, first + std::min<int64_t>(16, paths_.end() - first));
    return files(some).decode_image().resize({.height = 64, .width = 64}).batch(16).at(0);
  }
  // Call it between two epochs, when nobody is inside at().
  void on_epoch_end() { std::shuffle(paths_.begin(), paths_.end(), random_); }

  mutable std::atomic<int> made_by_training = 0;

 private:
  std::vector<std::string> paths_;
  std::mt19937 random_{7};
  std::thread::id training_thread_ = std::this_thread::get_id();
};

// The class as a dataset. A mistake is told from where it happened: in which item.
Dataset dataset_of(const ImageSequence& sequence) {
  return range(sequence.size()).map([&](int64_t i) {
    try {
      return sequence.at(i);
    } catch (const Error& e) {
      throw e.within("item " + std::to_string(i));
    }
  });
}

// Each image is of one gray level: what tells it from the others.
void note_levels(const Batch& batch, std::vector<float>& levels) {
  const Tensor& images = batch["image"];
  for (int64_t i = 0; i < images.dim(0); ++i) levels.push_back(images.row(i).values<float>()[0]);
}

std::vector<float> levels_of(const Dataset& batches) {
  std::vector<float> levels;
  for (const Batch& batch : batches) note_levels(batch, levels);
  return levels;
}

int main() {
  const TempFolder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) {
    const std::vector<uint8_t> pixels(3 * 100 * 100, static_cast<uint8_t>(2 * i));
    const auto png = encode_png(pixels.data(), DType::kUInt8, 100, 100, 3, 300, 1);
    const std::string bytes(png.begin(), png.end());
    paths.push_back(folder.write("img_" + std::to_string(i) + ".png", bytes));
  }

  ImageSequence sequence(paths);
  std::vector<float> by_hand;
  for (int64_t i = 0; i < sequence.size(); ++i) note_levels(sequence.at(i), by_hand);
  const int blocking = sequence.made_by_training.exchange(0);
  std::printf("by hand:      %d items, %d of them made by the training thread\n",
              int(sequence.size()), blocking);

  const Dataset batches = dataset_of(sequence);
  const bool same = levels_of(batches) == by_hand;
  const int more = sequence.made_by_training;
  std::printf(
      "as a dataset: %d items, %d of them made by the training thread; the same images: %s\n",
      int(batches.cardinality()), more, same ? "yes" : "no");

  sequence.on_epoch_end();
  std::vector<float> next = levels_of(batches);
  const bool mixed = next != by_hand;
  std::sort(next.begin(), next.end());
  const bool shuffled = mixed && next == by_hand;  // which was in order
  std::printf("next epoch:   the same 100 images in another order: %s\n", shuffled ? "yes" : "no");

  std::filesystem::remove(paths[48]);
  std::string problem;
  try {
    const ImageSequence damaged(paths);
    levels_of(dataset_of(damaged));
  } catch (const Error& e) {
    problem = e.problem();
    problem.erase(problem.find(folder.path()), folder.path().size() + 1);
  }
  std::printf("a bad file:   %s\n", problem.c_str());
  const bool named = problem.find("item 3: img_48.png") != std::string::npos;
  return blocking == 7 && more == 0 && same && shuffled && named ? 0 : 1;
}
