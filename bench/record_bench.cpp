// How fast records are read, each figure as a ratio of medians over interleaved rounds of one run:
//   TFRecord of 100 KB records from page cache, both CRCs checked, beside memcpy    (goal 0.70)
//   gzip TFRecord of text, beside zlib inflating the same file                       (goal 1.8)
//   whole files of 100 KB, beside a bare open-fstat-read-close                       (goal 1.0)
//   small records and tf.Examples, by the piece
//
//   record_bench [--json] [--megabytes 256] [--rounds 9]
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "headway/core/random.h"
#include "headway/io/bytes/crc32c.h"
#include "headway/io/bytes/file.h"
#include "headway/io/records/example.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_writer.h"

using namespace headway;

namespace {

constexpr size_t kRecordBytes = 100'000;
constexpr int kMostThreads = 2;

struct Settings {
  bool json = false;
  size_t bytes = size_t{256} << 20;
  int rounds = 9;
};

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The same work on several threads at once, told which one it is.
void on_threads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
}

// Contestants run in turn, round by round, so that a slow minute of the machine hits all of them.
class Contest {
 public:
  void add(const std::string& name, std::function<void()> work) {
    contestants_.push_back({name, std::move(work), {}});
  }
  std::map<std::string, double> medians(int rounds) {
    for (Contestant& c : contestants_) c.work();  // warm
    for (int i = 0; i < rounds; ++i) {
      for (Contestant& c : contestants_) c.seconds.push_back(seconds(c.work));
    }
    std::map<std::string, double> out;
    for (Contestant& c : contestants_) {
      std::sort(c.seconds.begin(), c.seconds.end());
      out[c.name] = c.seconds[c.seconds.size() / 2];
    }
    return out;
  }

 private:
  struct Contestant {
    std::string name;
    std::function<void()> work;
    std::vector<double> seconds;
  };
  std::vector<Contestant> contestants_;
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "record-bench-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string noise(size_t size) {
  Random random(1, 2, 3, 4);
  std::string bytes(size, '\0');
  for (size_t i = 0; i + 8 <= size; i += 8) {
    const uint64_t word = random.next_u64();
    std::memcpy(bytes.data() + i, &word, sizeof word);
  }
  return bytes;
}

// Words of a vocabulary of 5,000, common ones far more often: deflates about as English does.
std::string text(size_t size) {
  Random random(5, 6, 7, 8);
  std::vector<std::string> words(5000);
  for (std::string& word : words) {
    const size_t letters = 2 + random.below(9);
    while (word.size() < letters)
      word += static_cast<char>('a' + random.below(26) * random.below(26) / 26);
  }
  std::string out;
  while (out.size() < size) {
    const double u = random.uniform();
    out += words[static_cast<size_t>(u * u * u * 4999)];
    out += random.below(12) == 0 ? ".\n" : " ";
  }
  return out;
}

void write_records(const std::string& path, std::string_view bytes, size_t record_bytes) {
  TFRecordWriter writer(path);
  while (!bytes.empty()) {
    const size_t n = std::min(record_bytes, bytes.size());
    writer.write(bytes.substr(0, n));
    bytes.remove_prefix(n);
  }
  writer.close();
}

size_t read_records(const std::string& path) {
  TFRecordReader reader(path);
  size_t count = 0;
  for (Record record; reader.next(record);) ++count;
  return count;
}

// What a reader that copies could do at best.
uint32_t bare_read(const std::string& path) {
  const File file(path);
  std::vector<char> block(kRecordBytes);
  uint32_t sum = 0;
  for (uint64_t at = 0;; at += block.size()) {
    const size_t got = file.pread(at, block.data(), block.size());
    if (got == 0) return sum;
    sum ^= crc32c({block.data(), got});
  }
}

struct Report {
  bool json;
  std::string fields;
  std::string table;

  void add(const std::string& key, double value, const std::string& meaning) {
    fields += fmt::format("{}\"{}\": {:.4g}", fields.empty() ? "" : ", ", key, value);
    table += fmt::format("{:<44} {:>10.4g}  {}\n", key, value, meaning);
  }
  void print() const { fmt::print("{}", json ? "{" + fields + "}\n" : table); }
};

void plain_records(const Settings& settings, const Folder& folder, Report& report) {
  const std::string bytes = noise(settings.bytes);
  std::vector<std::string> targets(kMostThreads, std::string(settings.bytes, 'x'));
  std::vector<std::string> sources(kMostThreads, bytes);
  for (int i = 0; i < kMostThreads; ++i)
    write_records(folder.file(fmt::format("plain{}", i)), bytes, kRecordBytes);
  Contest contest;
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    contest.add(fmt::format("memcpy {}", threads), [&, threads] {
      on_threads(threads,
                 [&](int i) { std::memcpy(targets[i].data(), sources[i].data(), settings.bytes); });
    });
    contest.add(fmt::format("memcpy_records {}", threads), [&, threads] {
      on_threads(threads, [&](int i) {
        for (size_t at = 0; at + kRecordBytes <= settings.bytes; at += kRecordBytes) {
          std::memcpy(targets[i].data() + at, sources[i].data() + at, kRecordBytes);
        }
      });
    });
    contest.add(fmt::format("bare_read {}", threads), [&, threads] {
      on_threads(threads, [&](int i) { bare_read(folder.file(fmt::format("plain{}", i))); });
    });
    contest.add(fmt::format("tfrecord {}", threads), [&, threads] {
      on_threads(threads, [&](int i) { read_records(folder.file(fmt::format("plain{}", i))); });
    });
  }
  const auto medians = contest.medians(settings.rounds);
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    const double gigabytes = static_cast<double>(settings.bytes) * threads / 1e9;
    const auto time = [&](const char* name) {
      return medians.at(fmt::format("{} {}", name, threads));
    };
    const std::string suffix = fmt::format("_{}_threads", threads);
    report.add("memcpy_gb_per_s" + suffix, gigabytes / time("memcpy"), "one call over everything");
    report.add("memcpy_records_gb_per_s" + suffix, gigabytes / time("memcpy_records"),
               "100 KB at a time");
    report.add("tfrecord_gb_per_s" + suffix, gigabytes / time("tfrecord"),
               "100 KB records, CRCs checked");
    report.add("bare_read_to_memcpy" + suffix, time("memcpy") / time("bare_read"),
               "pread into one block, then the CRC");
    report.add("tfrecord_to_memcpy" + suffix, time("memcpy") / time("tfrecord"), "goal 0.70");
    report.add("tfrecord_to_memcpy_records" + suffix, time("memcpy_records") / time("tfrecord"),
               "");
  }
}

size_t inflate_with_zlib(const std::string& path) {
  const File file(path);
  std::vector<char> in(size_t{128} << 10);
  std::vector<char> out(size_t{256} << 10);
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  size_t total = 0;
  uint64_t offset = 0;
  for (int code = Z_OK; code == Z_OK;) {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<unsigned>(file.pread(offset, in.data(), in.size()));
      stream.next_in = reinterpret_cast<unsigned char*>(in.data());
      offset += stream.avail_in;
    }
    stream.next_out = reinterpret_cast<unsigned char*>(out.data());
    stream.avail_out = static_cast<unsigned>(out.size());
    code = inflate(&stream, Z_NO_FLUSH);
    total += out.size() - stream.avail_out;
  }
  inflateEnd(&stream);
  return total;
}

void gzip_records(const Settings& settings, const Folder& folder, Report& report) {
  const std::string bytes = text(settings.bytes / 8);
  write_records(folder.file("text"), bytes, kRecordBytes);
  Buffer plain;
  read_all(folder.file("text"), plain);
  const std::string path = folder.file("text.gz");
  gzFile out = gzopen(path.c_str(), "wb6");  // by zlib at its default level, as TensorFlow writes
  gzwrite(out, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(out);
  Contest contest;
  contest.add("zlib", [&] { inflate_with_zlib(path); });
  contest.add("ours", [&] { read_records(path); });
  const auto medians = contest.medians(settings.rounds);
  const double megabytes = static_cast<double>(plain.size()) / 1e6;
  report.add("gzip_size_ratio",
             static_cast<double>(plain.size()) / std::filesystem::file_size(path), "");
  report.add("zlib_mb_per_s", megabytes / medians.at("zlib"), "inflated bytes, no records read");
  report.add("gzip_tfrecord_mb_per_s", megabytes / medians.at("ours"), "inflated, CRCs checked");
  report.add("gzip_to_zlib", medians.at("zlib") / medians.at("ours"), "goal 1.8");
}

void bare_read(const std::string& path, std::vector<char>& buffer) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  ::fstat(fd, &status);
  if (buffer.size() < static_cast<size_t>(status.st_size)) buffer.resize(status.st_size);
  if (::read(fd, buffer.data(), status.st_size) != status.st_size) std::abort();
  ::close(fd);
}

void whole_files(const Settings& settings, const Folder& folder, Report& report) {
  constexpr int kFiles = 200;
  constexpr int kPasses = 10;
  const std::string bytes = noise(kRecordBytes);
  std::vector<std::string> paths;
  for (int i = 0; i < kFiles; ++i) {
    paths.push_back(folder.file(fmt::format("file{}", i)));
    OutputFile(paths.back()).write(bytes);
  }
  std::vector<char> bare;
  Buffer buffer;
  Contest contest;
  const auto all = [&](auto read) {
    for (int i = 0; i < kPasses; ++i) std::for_each(paths.begin(), paths.end(), read);
  };
  contest.add("bare", [&] { all([&](const std::string& path) { bare_read(path, bare); }); });
  contest.add("ours", [&] { all([&](const std::string& path) { read_all(path, buffer); }); });
  const auto medians = contest.medians(settings.rounds);
  report.add("read_all_us_per_file", medians.at("ours") / (kFiles * kPasses) * 1e6,
             "100 KB from page cache");
  report.add("read_all_to_bare", medians.at("bare") / medians.at("ours"), "goal 1.0");
}

void small_pieces(const Settings& settings, const Folder& folder, Report& report) {
  constexpr size_t kSmall = 64;
  const size_t count = settings.bytes / 8 / kSmall;
  write_records(folder.file("small"), noise(count * kSmall), kSmall);
  const ExampleParser parser(
      {fixed_len("image", DType::kString), fixed_len("label", DType::kInt64)});
  const std::string image = noise(kRecordBytes);
  ExampleWriter writer;
  const std::string example(writer.bytes("image", image).int64("label", 7).finish());
  constexpr int kExamples = 100'000;
  std::vector<Tensor> tensors;
  Contest contest;
  contest.add("records", [&] { read_records(folder.file("small")); });
  contest.add("examples", [&] {
    for (int i = 0; i < kExamples; ++i) parser.parse(example, nullptr, tensors);
  });
  const auto medians = contest.medians(settings.rounds);
  report.add("small_records_ns", medians.at("records") / count * 1e9, "64 bytes, CRCs checked");
  report.add("example_parse_ns", medians.at("examples") / kExamples * 1e9,
             "image bytes and a label");
}

Settings settings_from(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      settings.json = true;
    } else if (option == "--megabytes" && i + 1 < argc) {
      settings.bytes = std::stoul(argv[++i]) << 20;
    } else if (option == "--rounds" && i + 1 < argc) {
      settings.rounds = std::stoi(argv[++i]);
    } else {
      throw Error("unknown option " + option,
                  "record_bench [--json] [--megabytes 256] [--rounds 9]");
    }
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) try {
  const Settings settings = settings_from(argc, argv);
  const Folder folder;
  Report report{settings.json, {}, {}};
  plain_records(settings, folder, report);
  gzip_records(settings, folder, report);
  whole_files(settings, folder, report);
  small_pieces(settings, folder, report);
  report.print();
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
