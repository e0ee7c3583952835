#include "cli/shard_writer.h"

#include <fmt/format.h>

#include <filesystem>

#include "headway/core/error.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

std::string partial(const std::string& path) { return path + ".partial"; }

}  // namespace

std::string shard_name(int64_t shard, int64_t shards, Compression compression) {
  const char* ending = compression == Compression::kGzip   ? ".gz"
                       : compression == Compression::kZlib ? ".zlib"
                                                           : "";
  return fmt::format("data-{:05}-of-{:05}.tfrecord{}", shard, shards, ending);
}

ShardWriter::ShardWriter(std::string path, Compression compression)
    : path_(std::move(path)),
      indexed_(compression == Compression::kNone),
      writer_(partial(path_), {.compression = compression, .index = indexed_}) {}

ShardWriter::~ShardWriter() {
  if (committed_) return;
  try {
    writer_.close();
  } catch (const Error&) {
    // What is removed next need not be whole.
  }
  std::error_code ignored;
  fs::remove(partial(path_), ignored);
  fs::remove(index_path(partial(path_)), ignored);
}

void ShardWriter::commit() {
  writer_.close();
  OutputFile(partial(path_), OutputFile::Mode::kAppend).sync();
  // The index first: it fits the records once they have their name, and is made anew if they never
  // do.
  if (indexed_) fs::rename(index_path(partial(path_)), index_path(path_));
  fs::rename(partial(path_), path_);
  committed_ = true;
}

}  // namespace headway::cli
