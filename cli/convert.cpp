#include "cli/convert.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/verbs.h"
#include "headway/core/print.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

// The options as they are typed; conversion_of makes sense of them.
struct Settings {
  Conversion how;
  uint64_t shuffle = 0;
  bool shuffled = false;
  std::string format = "keep";
  std::string compress = "none";
  std::optional<int> threads;  // default: chosen
  int64_t skip_errors = 0;
  std::string skip_log;
  bool trust = false;
  bool json = false;
};

Conversion conversion_of(const Settings& s) {
  Conversion how = s.how;
  if (!how.resize_text.empty()) how.images.resize = parse_resize(how.resize_text);
  if (s.format != "keep")
    how.images.format = s.format == "png" ? ImageFormat::kPng : ImageFormat::kJpeg;
  how.images.verify = !s.trust;
  if (s.shuffled) how.shuffle = s.shuffle;
  how.compression = s.compress == "gzip"   ? Compression::kGzip
                    : s.compress == "zlib" ? Compression::kZlib
                                           : Compression::kNone;
  how.run.threads = s.threads;
  if (s.skip_errors > 0) how.run.errors = ErrorPolicy::skip_up_to(s.skip_errors, s.skip_log);
  return how;
}

Converted convert_either_way(const Conversion& how, const Input& input) {
  if (input.kind == InputKind::kImageFolder) return convert_to_records(how);
  if (input.kind == InputKind::kRecords && input.image_key.empty()) {
    throw Error(
        fmt::format("the TFRecord files in {} hold records without images", how.from),
        fmt::format("headway convert handles only images; see what these hold: headway inspect {}",
                    how.from));
  }
  if (input.kind == InputKind::kRecords) return convert_to_folder(how, input);
  throw Error(
      fmt::format(
          "{} ({}) is neither a folder with one folder of images per class nor TFRecord files",
          how.from, input.what()),
      "put the images into one folder per class, as in photos/cat/001.jpg");
}

void convert(const Settings& s) {
  const Conversion how = conversion_of(s);
  const Input input = open_input(how.from);
  std::error_code absent;
  if (fs::equivalent(how.from, how.to, absent))
    throw Error(fmt::format("SRC and DST are the same folder, {}", how.from),
                "give another folder for DST");
  const Converted done = [&] {
    try {
      return convert_either_way(how, input);
    } catch (const SampleError& e) {
      throw Error(
          e.problem(),
          "replace that file and run the same command again, which goes on where it stopped; "
          "or let it pass: --skip-errors 10 --skip-log bad.jsonl");
    }
  }();
  const bool packed = input.kind == InputKind::kImageFolder;
  if (s.json) {
    return print_json({{"from", how.from},
                       {"to", how.to},
                       {"images", done.images},
                       {"kept", done.kept},
                       {"skipped", done.skipped},
                       {"shards", done.shards},
                       {"bytes", done.bytes},
                       {"seconds", done.seconds},
                       {"images_per_s", done.images_per_s}});
  }
  print("{} {}{} in {}, {:.0f} images/s\n", packed ? "packed" : "unpacked",
        counted(done.images, "image"), packed ? " into " + counted(done.shards, "shard") : "",
        time_text(done.seconds), done.images_per_s);
  if (done.kept > 0) print("{} were there from an earlier run\n", counted(done.kept, "image"));
  if (done.skipped > 0) {
    print("skipped {}{}\n", counted(done.skipped, "bad image"),
          s.skip_log.empty() ? "" : ", listed in " + s.skip_log);
  }
  print("{} now holds {}\n", how.to, size_text(static_cast<double>(done.bytes)));
}

}  // namespace

nlohmann::json settings_of(const Conversion& how) {
  const bool again = how.images.resize || how.images.format;
  return {{"from", fs::absolute(how.from).lexically_normal().string()},
          {"resize", how.resize_text},
          {"format", how.images.format ? name_of(*how.images.format) : "as it is"},
          {"quality", again ? nlohmann::json(how.images.quality) : nlohmann::json()}};
}

void add_convert(CLI::App& app, Task& task) {
  auto* verb = app.add_subcommand(
      "convert", "image folder to TFRecord shards, and back; goes on after a kill");
  set_help(
      *verb,
      {.examples = {{"headway convert photos records --shards 16 --shuffle 1 --resize shorter:256"},
                    {"headway convert records photos-again"}},
       .notes =
           "Images keep their bytes unless they are resized or change their format. Ended at any "
           "moment, even by kill -9, the same command goes on; finished shards are kept.",
       .statuses = exit_statuses()});
  auto s = std::make_shared<Settings>();
  verb->add_option("SRC", s->how.from,
                   "the images to convert: a folder with one folder per class, or TFRecord files "
                   "with images")
      ->type_name("PATH")
      ->required();
  verb->add_option("DST", s->how.to, "folder to write the result to")->type_name("DIR")->required();
  verb->add_option("--shards", s->how.shards,
                   "how many TFRecord files to write (default: as many as give about 128 MB each)")
      ->check(CLI::PositiveNumber);
  auto* shuffle =
      verb->add_option("--shuffle", s->shuffle,
                       "write the images in a random order (default: in the order of SRC); SEED is "
                       "a whole number, and the same SEED gives the same order")
          ->option_text("SEED");
  verb->add_option(
          "--resize", s->how.resize_text,
          "resize images to HxW (height x width), as in 224x224; shorter:N makes the shorter side "
          "N pixels long and keeps the shape (default: sizes stay)")
      ->check(parsed_by(parse_resize))
      ->option_text("HxW");
  verb->add_option("--quality", s->how.images.quality,
                   "JPEG quality, 1 to 100, of images that are resized or become JPEG; other "
                   "images keep their bytes")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--format", s->format, "format of the images: keep (as they are), jpeg or png")
      ->check(CLI::IsMember({"keep", "jpeg", "png"}))
      ->capture_default_str();
  verb->add_option("--compress", s->compress,
                   "compress the TFRecord files: none, gzip or zlib (JPEG images hardly shrink, "
                   "and compressed files can be read only from beginning to end)")
      ->check(CLI::IsMember({"none", "gzip", "zlib"}))
      ->capture_default_str();
  verb->add_option(
          "--threads", s->threads,
          "how many worker threads read and convert images (default: chosen automatically)")
      ->check(CLI::PositiveNumber);
  verb->add_option("--skip-errors", s->skip_errors,
                   "leave out up to N images that cannot be read (default: stop at the first one)")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  verb->add_option("--skip-log,--ledger", s->skip_log,
                   "write the images that --skip-errors leaves out to this file, one JSON object "
                   "per line; --ledger is another name of this option")
      ->option_text("FILE");
  verb->add_flag("--trust", s->trust,
                 "copy images that are neither resized nor change their format without decoding "
                 "them: faster, but damaged images are not noticed");
  verb->add_flag("--json", s->json, "print the result as one JSON object on standard output");
  verb->callback([s, shuffle, &task] {
    s->shuffled = shuffle->count() > 0;
    task = [s] { convert(*s); };
  });
}

}  // namespace headway::cli
