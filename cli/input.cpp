#include "cli/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "headway/io/bytes/file.h"
#include "headway/io/bytes/glob.h"
#include "headway/io/images/image_format.h"
#include "headway/io/records/example.h"
#include "headway/io/records/tfrecord.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

bool is_image(std::string_view bytes) {
  return format_of({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}) !=
         ImageFormat::kUnknown;
}

std::string head_of(const std::string& path) {
  std::array<char, 64> head;
  return std::string(head.data(), File(path).pread(0, head.data(), head.size()));
}

bool is_record_name(const std::string& name) {
  const auto ends = [&](const char* ending) { return name.ends_with(ending); };
  return ends(".tfrecord") || ends(".tfrecords") || ends(".tfrec") || ends(".tfrecord.gz") ||
         ends(".tfrecord.zlib");
}

std::vector<std::string> record_files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && is_record_name(entry.path().string()))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool holds_images(const std::string& folder) {
  return std::any_of(
      fs::directory_iterator(folder), fs::directory_iterator(), [](const auto& entry) {
        return entry.is_regular_file() && !entry.path().filename().string().starts_with('.') &&
               is_image(head_of(entry.path().string()));
      });
}

// Looks at the first record for an image and a label; customary names go first.
void find_image_feature(Input& input) {
  TFRecordReader reader(input.files[0]);
  Record record;
  if (!reader.next(record)) return;
  std::vector<Feature> features;
  try {
    features = parse_all(record.bytes, record.block);
  } catch (const SampleError&) {
    return;  // records need not be tf.Examples
  }
  for (const Feature& f : features) {
    if (!f.dtype || f.values.count() != 1) continue;
    if (*f.dtype == DType::kString && is_image(f.values.values<std::string_view>()[0])) {
      if (input.image_key.empty() || f.name == "image/encoded") input.image_key = f.name;
    }
    if (*f.dtype == DType::kInt64 && (f.name == "label" || f.name.ends_with("/label")))
      input.label_key = f.name;
    if (f.name == "image/class/text") input.text_key = f.name;
  }
}

Input open_records(const std::string& name, std::vector<std::string> files) {
  Input input{
      .name = name, .kind = InputKind::kRecords, .dataset = tfrecord(files), .files = files};
  find_image_feature(input);
  return input;
}

Input open_folder(const std::string& name) {
  if (auto files = record_files_in(name); !files.empty())
    return open_records(name, std::move(files));
  if (holds_images(name)) {
    return {.name = name, .kind = InputKind::kImages, .dataset = files(name + "/" + kImageEndings)};
  }
  return {.name = name,
          .kind = InputKind::kImageFolder,
          .dataset = image_folder(name),
          .classes = class_names(name)};
}

}  // namespace

std::string Input::what() const {
  switch (kind) {
    case InputKind::kImageFolder: return "image folder";
    case InputKind::kImages: return "images";
    case InputKind::kRecords: return image_key.empty() ? "TFRecord" : "TFRecord with images";
    case InputKind::kText: return "text";
    case InputKind::kSkipLog: return "skip log: the samples that were skipped";
  }
  return "";
}

Input open_input(const std::string& name) {
  if (fs::is_directory(name)) {
    std::string trimmed = name;
    while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.pop_back();
    return open_folder(trimmed);
  }
  const PathList list = list_files(name);
  std::vector<std::string> paths;
  for (size_t i = 0; i < list.size(); ++i) paths.push_back(list.path(i));
  const std::string head = head_of(paths[0]);
  const std::string ending = fs::path(paths[0]).extension().string();
  if (ending == ".jsonl") {
    return {
        .name = name, .kind = InputKind::kSkipLog, .dataset = skip_log(paths[0]), .files = paths};
  }
  for (const char* text : {".txt", ".csv", ".tsv", ".log", ".json"}) {
    if (ending != text) continue;
    return {.name = name, .kind = InputKind::kText, .dataset = text_lines(name), .files = paths};
  }
  if (is_image(head)) return {.name = name, .kind = InputKind::kImages, .dataset = files(paths)};
  if (is_record_name(paths[0])) return open_records(name, std::move(paths));
  try {
    TFRecordReader reader(paths[0]);
    Record record;
    if (reader.next(record)) return open_records(name, std::move(paths));
  } catch (const SampleError&) {
    // Not records either.
  }
  throw Error(fmt::format("{} is not a kind of data that headway can read", paths[0]),
              "give a folder of images, or JPEG, PNG, TFRecord or text (.txt) files, or a skip log "
              "(.jsonl)");
}

}  // namespace headway::cli
