#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headway/data/ops/ops.h"
#include "headway/data/sources/sources.h"
#include "headway/io/records/record.h"

namespace headway {

template <typename Reader>
using OpenReader = std::function<std::unique_ptr<Reader>(const std::string& path)>;

// The records of files read one after the other; a position is a file and a byte offset in it.
// Reader is TFRecordReader or TextReader.
template <typename Reader>
class FileStreamIterator : public Iterator {
 public:
  FileStreamIterator(std::vector<std::string> files, OpenReader<Reader> open)
      : files_(std::move(files)), open_(std::move(open)) {}

  Poll next(Element& out) override {
    for (; file_ < files_.size(); ++file_, offset_ = 0, reader_.reset()) {
      if (!reader_) open();
      if (!reader_) continue;
      Record record;
      if (reader_->next(record)) {
        out.clear();
        out.append(Element::value_name(), record.tensor());
        out.set_origin(name_, record.offset);
        return Poll::kElement;
      }
    }
    return Poll::kEnd;
  }
  void save(Cursor& cursor) const override {
    cursor.put(static_cast<int64_t>(file_));
    cursor.put(reader_ ? static_cast<int64_t>(reader_->tell()) : offset_);
  }
  void restore(CursorReader& cursor) override {
    file_ = cursor.take();
    offset_ = cursor.take();
  }

 private:
  void open() {
    const size_t file = file_;
    try {
      name_ = std::make_shared<const std::string>(files_[file]);
      reader_ = open_(files_[file]);
      if (offset_ > 0) reader_->seek(offset_);
    } catch (...) {
      ++file_;  // whoever skips errors goes on with the next file
      offset_ = 0;
      throw;
    }
  }

  std::vector<std::string> files_;
  OpenReader<Reader> open_;
  size_t file_ = 0;
  int64_t offset_ = 0;
  std::unique_ptr<Reader> reader_;
  std::shared_ptr<const std::string> name_;
};

template <typename Reader>
class FileStreamNode : public Node {
 public:
  FileStreamNode(std::string word, std::vector<std::string> files, OpenReader<Reader> open)
      : word_(std::move(word)), files_(std::move(files)), open_(std::move(open)) {
    traits_ = {.facts = {.reads_files = true}};
  }
  std::string describe() const override {
    return files_.size() == 1
               ? fmt::format("{}({})", word_, files_[0])
               : fmt::format("{}({} files from {})", word_, files_.size(), files_[0]);
  }
  int64_t cardinality() const override { return kUnknown; }
  std::unique_ptr<Iterator> iterate(Runtime&, int64_t, int) const override {
    return std::make_unique<FileStreamIterator<Reader>>(files_, open_);
  }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<FileStreamNode>(word_, files_, open_);
  }

 private:
  std::string word_;
  std::vector<std::string> files_;
  OpenReader<Reader> open_;
};

// `parallel` files are read at a time and their records taken in turn; with 1, file after file.
template <typename Reader>
NodePtr make_file_stream(std::string word, std::vector<std::string> files, OpenReader<Reader> open,
                         int64_t parallel) {
  if (parallel <= 1 || files.size() <= 1) {
    return std::make_shared<FileStreamNode<Reader>>(std::move(word), std::move(files),
                                                    std::move(open));
  }
  auto paths = std::make_shared<PathList>();
  for (const std::string& file : files) paths->append("", file);
  NodePtr names = make_files(std::move(paths), word, /*samples=*/false);
  const auto expand = [word, open](const Element& element) -> NodePtr {
    std::vector<std::string> one{std::string(element[Name("path")].bytes())};
    return std::make_shared<FileStreamNode<Reader>>(word, std::move(one), open);
  };
  return make_interleave(std::move(names), expand,
                         {.cycle_length = std::min<int64_t>(parallel, files.size())}, word,
                         /*reads_files=*/true);
}

}  // namespace headway
