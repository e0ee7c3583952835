// A generator that opens, decodes and scales its images itself makes them one after the other,
// however many workers there are. As operators of the pipeline the same steps run on all of them
// (seed example 000-1, with its files there). Prints:
//
//   the same 96 images: yes
//   generator: a second image is begun while the first is at work: no
//   pipeline:  a second image is begun while the first is at work: yes
#include <headway/headway.h>
#include <headway/io/bytes/temp_folder.h>
#include <headway/io/images/png.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <numeric>

using namespace headway;

constexpr int kImages = 96;

std::vector<std::string> make_images(const TempFolder& folder) {
  std::vector<std::string> paths;
  for (int i = 0; i < kImages; ++i) {
    std::vector<uint8_t> pixels(3 * 100 * 100);
    std::iota(pixels.begin(), pixels.end(), static_cast<uint8_t>(i));
    const auto png = encode_png(pixels.data(), DType::kUInt8, 100, 100, 3, 3 * 100);
    paths.push_back(folder.write(std::to_string(i) + ".png", std::string(png.begin(), png.end())));
  }
  return paths;
}

Dataset decoded(const std::vector<std::string>& paths) {
  return files(paths).decode_image().resize({.height = 64, .width = 64}).normalize({});
}

// Keeps the first image at work for so long, or until a second one is begun.
class Meeting {
 public:
  explicit Meeting(std::chrono::milliseconds patience) : patience_(patience) {}
  void begin() {
    std::unique_lock lock(mu_);
    ++begun_;
    second_.notify_all();
    if (begun_ == 1) met_ = second_.wait_for(lock, patience_, [&] { return begun_ > 1; });
  }
  bool met() const { return met_; }

 private:
  const std::chrono::milliseconds patience_;
  std::mutex mu_;
  std::condition_variable second_;
  int begun_ = 0;
  bool met_ = false;
};

// Each call does all the work of one image; nobody else can call meanwhile.
Dataset from_generator(const std::vector<std::string>& paths, Meeting& meeting) {
  return generator([&] {
    return [&, i = size_t{0}]() mutable -> std::optional<Element> {
      if (i == paths.size()) return std::nullopt;
      meeting.begin();
      return decoded({paths[i++]}).at(0);
    };
  });
}

std::vector<Batch> read(const Dataset& images) {
  std::vector<Batch> batches;
  for (const Batch& batch : images.batch(32).with_options({.threads = 2})) batches.push_back(batch);
  return batches;
}

int main() {
  const TempFolder folder;
  const std::vector<std::string> paths = make_images(folder);
  Meeting serial(std::chrono::milliseconds(300)), parallel(std::chrono::seconds(30));
  const auto one = read(from_generator(paths, serial));
  const auto other =
      read(decoded(paths).map([&](Element e) { return parallel.begin(), std::move(e); }));

  bool same = one.size() == 3 && other.size() == 3;
  for (size_t i = 0; same && i < 3; ++i) same = one[i]["image"].same(other[i]["image"]);
  std::printf("the same %d images: %s\n", kImages, same ? "yes" : "no");
  const char* claim = "a second image is begun while the first is at work";
  std::printf("generator: %s: %s\n", claim, serial.met() ? "yes" : "no");
  std::printf("pipeline:  %s: %s\n", claim, parallel.met() ? "yes" : "no");
  return same && !serial.met() && parallel.met() ? 0 : 1;
}
