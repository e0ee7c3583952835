#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/convert.h"
#include "cli/image_record.h"
#include "cli/interrupt.h"
#include "cli/manifest.h"
#include "cli/progress.h"
#include "cli/shard_writer.h"
#include "headway/core/permutation.h"
#include "headway/data/sources/sources.h"
#include "headway/io/bytes/file.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kShardBytes = 128'000'000;
constexpr size_t kSizeSample = 256;

// What is written where: position p of the output is image order(p), shard s holds the positions
// from begin(s) to begin(s + 1).
class ShardPlan {
 public:
  ShardPlan(const Conversion& how, ImageFolder folder)
      : folder_(std::move(folder)), count_(static_cast<int64_t>(folder_.labels.size())) {
    shards_ = std::min(count_, how.shards > 0 ? how.shards : fitting_shards());
    if (how.shuffle) order_ = std::make_unique<Permutation>(count_, *how.shuffle, 0);
  }

  int64_t count() const { return count_; }
  int64_t shards() const { return shards_; }
  int64_t begin(int64_t shard) const { return shard * count_ / shards_; }
  const ImageFolder& folder() const { return folder_; }
  size_t image_at(int64_t position) const { return order_ ? (*order_)[position] : position; }

  // Changes when files come, go or change their names.
  std::string fingerprint() const {
    uint64_t hash = 0;
    for (size_t i = 0; i < folder_.labels.size(); ++i)
      hash =
          mix(mix(hash, folder_.labels[i]), std::hash<std::string_view>{}(folder_.paths->name(i)));
    return fmt::format("{:016x}", hash);
  }

 private:
  int64_t fitting_shards() const {
    const size_t step = std::max<size_t>(1, folder_.labels.size() / kSizeSample);
    uintmax_t bytes = 0;
    int64_t looked_at = 0;
    for (size_t i = 0; i < folder_.labels.size(); i += step, ++looked_at) {
      std::error_code unreadable;  // said when it is read
      const uintmax_t size = fs::file_size(folder_.paths->path(i), unreadable);
      if (!unreadable) bytes += size;
    }
    const double total =
        static_cast<double>(bytes) / static_cast<double>(looked_at) * static_cast<double>(count_);
    return 1 + static_cast<int64_t>(total / kShardBytes);
  }

  ImageFolder folder_;
  int64_t count_;
  int64_t shards_ = 1;
  std::unique_ptr<Permutation> order_;
};

// The name of image i below its class, with the ending of the format it is written in. Where
// another image has the same name but for the ending, the old one stays in front: cat.jpg.png.
std::string name_in(const ImageFolder& folder, size_t i, ImageFormat before, ImageFormat after) {
  const std::string name(folder.paths->name(i));
  if (before == after) return name;
  const std::string stem = fs::path(name).replace_extension().string() + ".";
  const auto rivals = [&](size_t other) {  // sorted, so they are neighbours
    return other < folder.labels.size() && folder.labels[other] == folder.labels[i] &&
           folder.paths->name(other).starts_with(stem);
  };
  const bool alone = !rivals(i - 1) && !rivals(i + 1);
  return fmt::format("{}{}", alone ? stem.substr(0, stem.size() - 1) : name, extension_of(after));
}

Element make_record(const Conversion& how, const ShardPlan& plan, int64_t position) {
  const size_t i = plan.image_at(position);
  const ImageFolder& folder = plan.folder();
  const std::string path = folder.paths->path(i);
  thread_local Buffer file;
  read_all(path, file);
  const EncodedImage image = transcode(file.view(), {.file = path}, how.images);
  const int32_t label = folder.labels[i];
  const ImageFormat before =
      format_of({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  const std::string name = name_in(folder, i, before, image.format);
  Element out;
  out.set("value", Tensor::string(serialize({.encoded = image.bytes,
                                             .format = name_of(image.format),
                                             .height = image.height,
                                             .width = image.width,
                                             .label = label,
                                             .class_name = folder.classes[label],
                                             .filename = name})));
  out.set("position", Tensor::scalar(position));
  return out;
}

// Fills the shards that are not there yet, in order.
class ShardFiller {
 public:
  ShardFiller(const Conversion& how, const ShardPlan& plan) : how_(how), plan_(plan) {
    for (int64_t s = 0; s < plan.shards(); ++s) {
      if (!fs::exists(path_of(s))) missing_.push_back(s);
    }
  }

  // Positions of all records that are still to be written.
  std::vector<int64_t> positions() const {
    std::vector<int64_t> out;
    for (const int64_t s : missing_) {
      for (int64_t p = plan_.begin(s); p < plan_.begin(s + 1); ++p) out.push_back(p);
    }
    return out;
  }

  void write(int64_t position, std::string_view record) {
    while (position >= plan_.begin(missing_[next_] + 1)) finish_shard();
    open();
    shard_->write(record);
  }
  // Also makes the shards of which no image was good: a set of shards has no holes.
  void finish() {
    while (next_ < missing_.size()) finish_shard();
  }
  std::string path_of(int64_t shard) const {
    return how_.to + "/" + shard_name(shard, plan_.shards(), how_.compression);
  }

 private:
  void open() {
    if (!shard_) shard_ = std::make_unique<ShardWriter>(path_of(missing_[next_]), how_.compression);
  }
  void finish_shard() {
    open();
    shard_->commit();
    shard_.reset();
    ++next_;
  }

  const Conversion& how_;
  const ShardPlan& plan_;
  std::vector<int64_t> missing_;
  size_t next_ = 0;  // in missing_: the shard being written
  std::unique_ptr<ShardWriter> shard_;
};

}  // namespace

Converted convert_to_records(const Conversion& how) {
  auto plan = std::make_shared<const ShardPlan>(how, list_image_folder(how.from));
  nlohmann::json settings = settings_of(how);
  settings.update({{"images", plan->count()},
                   {"names", plan->fingerprint()},
                   {"shards", plan->shards()},
                   {"shuffle", how.shuffle ? nlohmann::json(*how.shuffle) : nlohmann::json()},
                   {"compress", name_of(how.compression)}});
  Manifest manifest(how.to, settings);
  ShardFiller shards(how, *plan);

  auto positions = std::make_shared<const std::vector<int64_t>>(shards.positions());
  const auto make = [how, plan, positions](Element e) {
    return make_record(how, *plan, (*positions)[e.only().item<int64_t>()]);
  };
  const auto missing = static_cast<int64_t>(positions->size());
  Progress progress("packing", plan->count(), "images");
  progress.already(plan->count() - missing);
  Pipeline pipeline = range(missing).map(make, {.name = "pack"}).with_options(how.run).start();
  Converted done{.kept = plan->count() - missing, .shards = plan->shards()};
  const Name value("value"), position("position");
  while (const auto record = pipeline.next()) {
    check_interrupt();
    shards.write((*record)[position].item<int64_t>(), (*record)[value].bytes());
    ++done.images;
    progress.advance();
  }
  shards.finish();
  progress.finish();
  done.skipped = pipeline.stats().skipped;
  done.seconds = progress.seconds();
  done.images_per_s = progress.per_second();
  for (int64_t s = 0; s < plan->shards(); ++s)
    done.bytes += static_cast<int64_t>(fs::file_size(shards.path_of(s)));
  manifest.finish({{"classes", plan->folder().classes}, {"skipped", done.skipped}});
  return done;
}

}  // namespace headway::cli
