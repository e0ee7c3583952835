#include "headway/io/records/tfrecord_writer.h"

#include <fmt/format.h>

#include "headway/io/bytes/deflate.h"
#include "headway/io/records/tfrecord_format.h"

namespace headway {
namespace {

using namespace tfrecord;

constexpr size_t kPendingBytes = size_t{256} << 10;

void check(const std::string& path, const TFRecordWriterOptions& options) {
  if (options.compression == Compression::kAuto) {
    throw Error(path + ": the compression to write with is not given",
                "set .compression in TFRecordWriterOptions to \"none\", \"gzip\" or \"zlib\" "
                "(Compression::kNone, kGzip, kZlib)");
  }
  if (options.append && options.compression == Compression::kZlib) {
    throw Error(path + ": cannot append to a file with zlib compression",
                "set .compression to gzip, or write a new file (.append = false)");
  }
  if (options.index && (options.append || options.compression != Compression::kNone)) {
    throw Error(path + ": an index can only be written for new, uncompressed files",
                "set .index = false in TFRecordWriterOptions; the index of an uncompressed file "
                "can be made later with build_index() and save_index()");
  }
}

}  // namespace

TFRecordWriter::TFRecordWriter(const std::string& path, TFRecordWriterOptions options)
    : options_((check(path, options), options)),
      file_(path, options.append ? OutputFile::Mode::kAppend : OutputFile::Mode::kTruncate) {
  if (options.compression != Compression::kNone) {
    deflater_ = std::make_unique<Deflater>(options.compression);
  }
  pending_.reserve(kPendingBytes);
}

TFRecordWriter::~TFRecordWriter() {
  try {
    close();
  } catch (const Error&) {
    // Nobody is left to be told; see close().
  }
}

void TFRecordWriter::write(std::string_view record) {
  if (options_.index && record.size() > UINT32_MAX) {
    throw Error(fmt::format("{}: a record of {} bytes is too large for an index, which allows {}",
                            file_.path(), record.size(), UINT32_MAX),
                "set .index = false in TFRecordWriterOptions, or split the record");
  }
  char header[kHeaderBytes];
  char footer[kFooterBytes];
  put_header(record.size(), header);
  put_crc(record, footer);
  put({header, sizeof header});
  put(record);
  put({footer, sizeof footer});
  ++count_;
  if (options_.index) index_.append(static_cast<uint32_t>(record.size()));
}

void TFRecordWriter::put(std::string_view bytes) {
  if (pending_.size() + bytes.size() > kPendingBytes) drain();
  if (bytes.size() < kPendingBytes) {
    pending_.append(bytes);
  } else {
    send(bytes);
  }
}

void TFRecordWriter::drain() {
  send(pending_);
  pending_.clear();
}

void TFRecordWriter::send(std::string_view bytes) {
  if (!deflater_) return file_.write(bytes);
  deflater_->write(bytes, compressed_);
  file_.write(compressed_);
  compressed_.clear();
}

void TFRecordWriter::flush() {
  drain();
  if (!deflater_) return;
  deflater_->flush(compressed_);
  file_.write(compressed_);
  compressed_.clear();
}

void TFRecordWriter::close() {
  if (!open_) return;
  open_ = false;  // first: after a failure there is nothing to try again
  drain();
  if (deflater_) {
    deflater_->finish(compressed_);
    file_.write(compressed_);
  }
  file_.close();
  if (options_.index) save_index(file_.path(), index_);
}

}  // namespace headway
