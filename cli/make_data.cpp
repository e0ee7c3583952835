#include "cli/make_data.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/draw.h"
#include "cli/image_record.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/shard_writer.h"
#include "cli/verbs.h"
#include "cli/whole_file.h"
#include "headway/core/json.h"
#include "headway/core/print.h"
#include "headway/core/regular_file.h"
#include "headway/headway.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

using Settings = MakeData;

constexpr const char* kMark = ".headway-make-data.json";  // says that we made this folder, and how
constexpr int64_t kImagesPerShard = 1000;

nlohmann::json mark_of(const Settings& s) {
  return {{"count", s.count},           {"classes", s.classes},    {"width", s.drawing.width},
          {"height", s.drawing.height}, {"format", s.format},      {"quality", s.quality},
          {"seed", s.drawing.seed},     {"noise", s.drawing.grain}};
}

std::string image_name(const Settings& s, int64_t i) {
  return fmt::format("{:06}.{}", i, s.png() ? "png" : "jpg");
}

std::string image_path(const Settings& s, int64_t i) {
  return fmt::format("{}/{}/{}", s.out, kFigures[s.figure(i)], image_name(s, i));
}

// What an earlier run with other settings left: our marks, our names, nothing else.
void remove_earlier(const Settings& s) {
  std::vector<fs::path> old;
  for (const auto& entry : fs::recursive_directory_iterator(s.out)) {
    const std::string name = entry.path().filename().string();
    const std::string ending = entry.path().extension().string();
    const bool numbered = name.find_first_not_of("0123456789") == name.rfind('.');
    const bool image = numbered && (ending == ".jpg" || ending == ".png");
    const bool shard = name.starts_with("data-") && name.find(".tfrecord") != std::string::npos;
    if (entry.is_regular_file() && (image || shard)) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove(path);
  for (const auto& figure : kFigures) {
    std::error_code not_empty;
    fs::remove(fs::path(s.out) / figure, not_empty);
  }
}

// What an earlier run noted; null when that cannot be read.
nlohmann::json noted_in(const std::string& mark) {
  constexpr size_t kMaxBytes = 1 << 16;
  try {
    return parse_json(read_regular(mark, kMaxBytes));
  } catch (const JsonError&) {
    return nullptr;
  }
}

// Makes the folder ready, or says why it must not be written to.
void prepare_folder(const Settings& s) {
  if (fs::exists(s.out) && !fs::is_directory(s.out)) {
    throw Error(s.out + " is a file", "name a folder for --out");
  }
  fs::create_directories(s.out);
  const fs::path mark = fs::path(s.out) / kMark;
  if (fs::exists(mark)) {
    const auto made = noted_in(mark.string());
    if (made != mark_of(s)) {
      if (!s.force) {
        throw Error(fmt::format("{} holds images made with other settings\n  in the folder  {}\n  "
                                "wanted         {}",
                                s.out, made.dump(), mark_of(s).dump()),
                    "give another folder with --out, or add --force to replace the images");
      }
      remove_earlier(s);
    }
  } else if (!fs::is_empty(s.out) && !s.force) {
    throw Error(s.out + " is not empty, and what it holds was not made by headway make-data",
                "give another folder with --out, or add --force to write into this one");
  }
  write_whole(mark.string(), mark_of(s).dump() + "\n");
  if (s.records()) return;
  for (int64_t c = 0; c < s.classes; ++c) fs::create_directories(fs::path(s.out) / kFigures[c]);
}

std::vector<uint8_t> make_image(const Settings& s, int64_t i) {
  const Drawing& d = s.drawing;
  thread_local std::vector<uint8_t> pixels;
  pixels.resize(size_t{3} * d.width * d.height);
  draw_figure(d, s.figure(i), i, pixels.data());
  const int64_t stride = int64_t{3} * d.width;
  if (s.png()) return encode_png(pixels.data(), DType::kUInt8, d.height, d.width, 3, stride);
  return encode_jpeg(pixels.data(), d.height, d.width, 3, stride, {.quality = s.quality});
}

std::string_view view_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Element one_file(const Settings& s, int64_t i) {
  const std::string path = image_path(s, i);
  std::error_code absent;
  auto size = static_cast<int64_t>(fs::file_size(path, absent));
  if (absent) {  // else an earlier run with the same settings has made it
    const std::vector<uint8_t> bytes = make_image(s, i);
    write_whole(path, view_of(bytes));
    size = static_cast<int64_t>(bytes.size());
  }
  return Element(Tensor::scalar(size));
}

Element one_record(const Settings& s, int64_t i) {
  const std::vector<uint8_t> bytes = make_image(s, i);
  const size_t figure = s.figure(i);
  return Element(Tensor::string(serialize({.encoded = view_of(bytes),
                                           .format = "JPEG",
                                           .height = s.drawing.height,
                                           .width = s.drawing.width,
                                           .label = static_cast<int64_t>(figure),
                                           .class_name = kFigures[figure],
                                           .filename = image_name(s, i)})));
}

int64_t write_images(const Dataset& images, Progress& progress) {
  int64_t bytes = 0;
  for (const Element& image : images) {
    check_interrupt();
    bytes += image.only().item<int64_t>();
    progress.advance();
  }
  return bytes;
}

int64_t write_shards(const Settings& s, const Dataset& records, Progress& progress) {
  const int64_t shards = (s.count + kImagesPerShard - 1) / kImagesPerShard;
  std::unique_ptr<ShardWriter> shard;
  int64_t bytes = 0;
  for (const Element& record : records) {
    check_interrupt();
    if (progress.done() % kImagesPerShard == 0) {
      if (shard) shard->commit();
      const int64_t number = progress.done() / kImagesPerShard;
      shard = std::make_unique<ShardWriter>(
          s.out + "/" + shard_name(number, shards, Compression::kNone), Compression::kNone);
    }
    shard->write(record.only().bytes());
    bytes += static_cast<int64_t>(record.only().bytes().size());
    progress.advance();
  }
  if (shard) shard->commit();
  return bytes;
}

}  // namespace

Made make_data(const MakeData& s) {
  prepare_folder(s);
  Options options;
  options.threads = s.threads;
  const auto make = [s](Element e) {
    const auto i = e.only().item<int64_t>();
    return s.records() ? one_record(s, i) : one_file(s, i);
  };
  const Dataset images = range(s.count).map(make, {.name = "draw"}).with_options(options);
  Progress progress("drawing", s.count, "images");
  const int64_t bytes =
      s.records() ? write_shards(s, images, progress) : write_images(images, progress);
  progress.finish();
  return {bytes, progress.seconds(), progress.per_second()};
}

namespace {

void run(const MakeData& s) {
  const Made made = make_data(s);
  if (s.json) {
    nlohmann::json out = mark_of(s);
    out.update({{"out", s.out},
                {"bytes", made.bytes},
                {"seconds", made.seconds},
                {"images_per_s", made.per_second}});
    return print_json(out);
  }
  print("drew {} of {}x{} in {} ({}, {} each) in {}, {:.0f} images/s\n", counted(s.count, "image"),
        s.drawing.width, s.drawing.height, counted(s.classes, "class"),
        size_text(double(made.bytes)), size_text(double(made.bytes) / double(s.count)),
        time_text(made.seconds), made.per_second);
  print("they are in {}{}\n", s.out, s.records() ? "" : ", one folder per class");
}

}  // namespace

void add_make_data(CLI::App& app, Task& task) {
  auto* verb = app.add_subcommand(
      "make-data", "make images with labels, to train on without a dataset of your own");
  set_help(
      *verb,
      {.examples = {{"headway make-data --out shapes --count 2000 --width 320 --height 240"}},
       .notes = "The same seed gives the same files, whatever the threads. Run again, it goes on "
                "where it stopped.",
       .statuses = exit_statuses()});
  auto s = std::make_shared<MakeData>();
  verb->add_option("--out", s->out, "folder to write the images to")->type_name("DIR")->required();
  verb->add_option("--count", s->count, "how many images to make")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option(
          "--classes", s->classes,
          "how many classes of images to make, each with its own shape (circle, square ...)")
      ->check(CLI::Range(size_t{1}, kFigures.size()))
      ->capture_default_str();
  verb->add_option("--width", s->drawing.width, "width of each image in pixels, 8 to 16384")
      ->check(CLI::Range(8, 16384))
      ->capture_default_str();
  verb->add_option("--height", s->drawing.height, "height of each image in pixels, 8 to 16384")
      ->check(CLI::Range(8, 16384))
      ->capture_default_str();
  verb->add_option(
          "--format", s->format,
          "file format: jpeg, png or tfrecord (JPEG images with labels inside TFRecord files)")
      ->check(CLI::IsMember({"jpeg", "png", "tfrecord"}))
      ->capture_default_str();
  verb->add_option("--quality", s->quality, "quality of the JPEG images, 1 to 100")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--seed", s->drawing.seed, "random seed: another seed gives other images")
      ->capture_default_str();
  verb->add_option("--noise", s->drawing.grain,
                   "strength of the random noise in the images that are made, 0 (none) to 200 grey "
                   "levels: the more, the harder their labels are to learn")
      ->check(CLI::Range(0.0, 200.0))
      ->capture_default_str();
  verb->add_option("--threads", s->threads,
                   "how many worker threads make and write images (default: chosen automatically)")
      ->check(CLI::PositiveNumber);
  verb->add_flag(
      "--force", s->force,
      "write even if the folder holds other files, or replace images made with other settings");
  verb->add_flag("--json", s->json, "print the result as one JSON object on standard output");
  verb->callback([s, &task] { task = [s] { run(*s); }; });
}

}  // namespace headway::cli
