#include <fmt/format.h>

#include <climits>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "cli/convert.h"
#include "cli/image_record.h"
#include "cli/interrupt.h"
#include "cli/manifest.h"
#include "cli/progress.h"
#include "cli/whole_file.h"
#include "headway/core/resource_error.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

// A name from a file we did not write, made harmless: it stays inside its folder and is not hidden.
std::string safe_name(std::string_view name) {
  std::string safe(name);
  for (char& c : safe) {
    if (c == '/' || c == '\\' || c == '\0') c = '_';
  }
  if (safe.starts_with('.')) safe[0] = '_';
  return safe;
}

fs::path class_folder(const ImageRecord& image) {
  if (!image.class_name.empty()) return safe_name(image.class_name);
  return image.label < 0 ? "unlabelled" : fmt::format("class_{:04}", image.label);
}

std::string file_name(const ImageRecord& image, int64_t number, ImageFormat before,
                      ImageFormat after) {
  const std::string ending(extension_of(after));
  if (fs::path(image.filename).filename().empty()) return fmt::format("{:08}{}", number, ending);
  // Folders below a class are kept, each made harmless by itself.
  fs::path name;
  for (const fs::path& part : fs::path(image.filename).relative_path())
    name /= safe_name(part.string());
  if (before != after || !name.has_extension()) name.replace_extension(ending);
  return name.string();
}

// A record may carry any name; what no file system takes is the record's fault, not the disk's.
void require_possible(const fs::path& path, const Origin& origin) {
  for (const fs::path& part : path) {
    const size_t size = part.string().size();
    if (size <= NAME_MAX) continue;
    throw SampleError(
        origin,
        fmt::format("the class or file name of this record has {} bytes, but names of files may "
                    "have at most {}",
                    size, NAME_MAX),
        "shorten the record's image/class/text or image/filename, or leave the record out");
  }
}

// Whatever hinders it, no record is to blame.
void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw resource_error(folder.string(), "cannot make the folder", failed.value());
}

Element unpack(const Conversion& how, const Element& record) {
  const std::string_view bytes = record["value"].bytes();
  const Origin origin = record.origin();
  const ImageRecord image = parse_image_record(bytes, origin);
  const auto* encoded = reinterpret_cast<const uint8_t*>(image.encoded.data());
  const ImageFormat before = format_of({encoded, image.encoded.size()});
  if (before == ImageFormat::kUnknown)
    throw_unknown_format({encoded, image.encoded.size()}, origin);
  const ImageFormat after = how.images.format.value_or(before);
  const fs::path name =
      class_folder(image) / file_name(image, record["index"].item<int64_t>(), before, after);
  require_possible(name, origin);
  const fs::path path = how.to / name;
  std::error_code absent;
  auto size = static_cast<int64_t>(fs::file_size(path, absent));
  if (absent) {  // else an earlier run has written it
    make_folder(path.parent_path());
    const EncodedImage made = transcode(image.encoded, origin, how.images);
    write_whole(path.string(), made.bytes);
    size = static_cast<int64_t>(made.bytes.size());
  }
  Element out;
  out.set("path", Tensor::string(path.string()));
  out.set("bytes", Tensor::scalar(size));
  out.set("made", Tensor::scalar(static_cast<bool>(absent)));
  return out;
}

}  // namespace

Converted convert_to_folder(const Conversion& how, const Input& input) {
  Manifest manifest(how.to, settings_of(how));
  const Dataset images = input.dataset.enumerate()
                             .map([how](Element e) { return unpack(how, e); }, {.name = "unpack"})
                             .with_options(how.run);
  Progress progress("unpacking",
                    input.dataset.cardinality() >= 0 ? input.dataset.cardinality() : -1, "images");
  Pipeline pipeline = images.start();
  Converted done;
  std::unordered_set<std::string> seen;
  while (const auto image = pipeline.next()) {
    check_interrupt();
    const std::string path((*image)["path"].bytes());
    if (!seen.insert(path).second) {
      throw Error("two records would become the same file " + path,
                  "both records have the same class and the same image/filename: give one of them "
                  "another image/filename");
    }
    const bool made = (*image)["made"].item<bool>();
    ++(made ? done.images : done.kept);
    done.bytes += (*image)["bytes"].item<int64_t>();
    progress.advance();
  }
  progress.finish();
  done.skipped = pipeline.stats().skipped;
  done.seconds = progress.seconds();
  done.images_per_s = progress.per_second();
  manifest.finish({{"images", done.images + done.kept}, {"skipped", done.skipped}});
  return done;
}

}  // namespace headway::cli
