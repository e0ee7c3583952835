#include "headway/io/records/tfrecord.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/core/resource_error.h"
#include "headway/data/sources/file_stream.h"
#include "headway/data/sources/sources.h"
#include "headway/io/records/tfrecord_index.h"

namespace headway {
namespace {

constexpr int64_t kParallelFiles = 4;  // fixed, so that the order does not depend on the machine

// Plain files whose records' places are known: any record at once, from any thread.
class IndexedTFRecordNode : public Node {
 public:
  struct Entry {
    std::shared_ptr<const std::string> path;
    TFRecordIndex index;
    TFRecordFile file;
    int64_t first = 0;  // number of its first record
  };
  struct Files {
    std::vector<std::unique_ptr<Entry>> entries;
    int64_t total = 0;
  };

  explicit IndexedTFRecordNode(std::shared_ptr<const Files> files) : files_(std::move(files)) {
    traits_ = {.indexed = true, .reads_files = true, .facts = {.reads_files = true}};
  }
  std::string describe() const override {
    return fmt::format("tfrecord({} file{} from {}, {} records)", files_->entries.size(),
                       files_->entries.size() == 1 ? "" : "s", *files_->entries[0]->path,
                       files_->total);
  }
  int64_t cardinality() const override { return files_->total; }
  void at(int64_t i, int64_t, const SampleContext&, Element& out) const override {
    const auto& entries = files_->entries;
    const auto above = std::upper_bound(entries.begin(), entries.end(), i,
                                        [](int64_t n, const auto& e) { return n < e->first; });
    const Entry& entry = **std::prev(above);
    const auto record = static_cast<size_t>(i - entry.first);
    const uint64_t offset = entry.index.offset(record);
    out.set_origin(entry.path, static_cast<int64_t>(offset));
    out.append(Element::value_name(), entry.file.read_at(offset, entry.index.length(record)));
  }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<IndexedTFRecordNode>(files_);
  }

 private:
  std::shared_ptr<const Files> files_;
};

bool is_plain(const std::string& path) {
  const File file(path);
  char head[16];
  const size_t n = file.pread(0, head, sizeof head);
  return n == 0 || detect_tfrecord_compression({head, n}) == Compression::kNone;
}

// Null when some file is compressed or damaged, or more of them than may be open at once: a stream
// can still read, and report, those.
std::shared_ptr<const IndexedTFRecordNode::Files> open_indexed(
    const std::vector<std::string>& paths) {
  auto files = std::make_shared<IndexedTFRecordNode::Files>();
  for (const std::string& path : paths) {
    if (!is_plain(path)) return nullptr;
    try {
      files->entries.push_back(std::make_unique<IndexedTFRecordNode::Entry>(
          IndexedTFRecordNode::Entry{std::make_shared<const std::string>(path), index_of(path),
                                     TFRecordFile(path), files->total}));
    } catch (const SampleError&) {
      return nullptr;
    } catch (const ResourceError&) {
      return nullptr;
    }
    files->total += static_cast<int64_t>(files->entries.back()->index.count());
  }
  return files;
}

}  // namespace

NodePtr make_tfrecord(std::vector<std::string> files, TFRecordDatasetOptions options) {
  if (files.empty()) throw Error("tfrecord: the list of files is empty", "give at least one file");
  for (const std::string& path : files) File check(path);  // missing files are said at once
  const bool may_be_plain =
      options.compression == Compression::kAuto || options.compression == Compression::kNone;
  if (options.index && may_be_plain) {
    if (auto indexed = open_indexed(files)) return std::make_shared<IndexedTFRecordNode>(indexed);
  }
  const auto open = [compression = options.compression](const std::string& path) {
    return std::make_unique<TFRecordReader>(path, TFRecordOptions{.compression = compression});
  };
  return make_file_stream<TFRecordReader>("tfrecord", std::move(files), open,
                                          options.num_parallel_reads.value_or(kParallelFiles));
}

}  // namespace headway
