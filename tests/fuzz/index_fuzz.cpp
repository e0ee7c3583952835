// Any bytes as the sidecar of a TFRecord file: it is believed only where every record that it names
// lies in the file. The first byte chooses: bit 0 to make the head right but for the count, bit 1
// to make the CRC right, bit 2 to make the count right, too.
#include <cstdint>
#include <cstring>

#include "headway/io/bytes/crc32c.h"
#include "headway/io/bytes/file.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_index.h"
#include "headway/io/records/tfrecord_writer.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::require;

namespace {

constexpr size_t kHead = 40, kCountAt = 32;

struct Records {
  Records() {
    TFRecordWriter writer(path);
    for (const char* text : {"one", "", "three", "a longer one", "5"}) writer.write(text);
    writer.close();
    save_index(path, build_index(path));
    head = folder.read("a.tfrecord.hwidx").substr(0, kHead);
  }
  const TempFolder folder;
  const std::string path = folder.path("a.tfrecord");
  std::string head;
};

void make_right(std::string& bytes, uint8_t choice, const std::string& head) {
  if (choice & 1 && bytes.size() >= kHead) {
    bytes.replace(0, kCountAt, head, 0, kCountAt);
    const uint64_t count = (bytes.size() - kHead) / sizeof(uint32_t) - 1;
    if (choice & 4) std::memcpy(bytes.data() + kCountAt, &count, sizeof count);
  }
  if (choice & 2 && bytes.size() >= sizeof(uint32_t)) {
    const std::string_view all(bytes.data(), bytes.size() - sizeof(uint32_t));
    const uint32_t crc = crc32c(all);
    std::memcpy(bytes.data() + all.size(), &crc, sizeof crc);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Records records;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  make_right(bytes, data[0], records.head);
  records.folder.write("a.tfrecord.hwidx", bytes);
  if (const auto index = load_index(records.path)) {
    const uint64_t whole = File(records.path).size_bytes();
    require(index->file_bytes() == whole);
    const TFRecordFile file(records.path);
    for (size_t i = 0; i < index->count(); ++i) {
      require(index->offset(i) + index->length(i) < whole);
      try {
        file.read_at(index->offset(i), index->length(i));
      } catch (const SampleError& e) {
        require(!e.reason().empty());
      }
    }
  }
  return 0;
}
