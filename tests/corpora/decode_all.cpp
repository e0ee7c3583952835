// Decodes every file whose path comes in on stdin, one per line, in every way there is; whatever is
// kept from file to file is kept. For orders.py.
//
//   decode_all FOLDER       a line for each file: path, then for each way its name, =, and
//                             "dtype HxWxC checksum"  or  "refused: message"  or  "FAULT: message"
//                           FOLDER/<line number> gets the pixels of the first way
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "headway/data/image_chain.h"
#include "headway/io/bytes/crc32c.h"
#include "headway/io/images/image_format.h"
#include "headway/io/images/jpeg.h"

using namespace headway;

namespace {

using Bytes = std::vector<uint8_t>;

struct Way {
  const char* name;
  ImageChain chain;
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  const auto add = [&](const char* name, std::vector<ImageStep> steps) {
    ways.push_back({name, ImageChain(std::move(steps))});
  };
  constexpr DecodeMode kFast = DecodeMode::kFast;
  add("as it is", {DecodeStep{.channels = 0}});
  add("gray", {DecodeStep{.channels = 1}});
  add("fast", {DecodeStep{.mode = kFast}});
  add("upright", {DecodeStep{.exif = true}});
  add("deep", {DecodeStep{.channels = 4, .dtype = DType::kUInt16}});
  add("part", {DecodeStep{}, RandomResizedCropStep{.height = 20, .width = 30}});
  add("small part", {DecodeStep{.mode = kFast}, RandomResizedCropStep{.height = 7, .width = 9}});
  add("small", {DecodeStep{.mode = kFast}, ResizeShorterStep{.size = 16, .antialias = true}});
  return ways;
}

// What `decode` gives or says; `decode` returns the shape, and fills `pixels`.
template <typename Decode>
std::string outcome(const Origin& origin, const Bytes& pixels, Decode decode) {
  try {
    const std::string shape = decode();
    const char* data = reinterpret_cast<const char*>(pixels.data());
    return fmt::format("{} {:08x}", shape, crc32c({data, pixels.size()}));
  } catch (const SampleError& e) {
    std::string text = e.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return (e.origin().file == origin.file ? "refused: " : "FAULT: no file named: ") + text;
  } catch (const std::exception& e) {
    return std::string("FAULT: ") + e.what();
  }
}

class Decoder {
 public:
  std::string run(const ImageChain& chain, const Bytes& file, const Origin& origin) {
    return outcome(origin, pixels, [&] {
      std::string shape;
      chain.run_encoded(file, origin, Random(file.size(), 0, 0, 0), scratch_,
                        [&](DType dtype, const Shape& s) -> void* {
                          shape = fmt::format("{} {}x{}x{}", name_of(dtype), s[0], s[1], s[2]);
                          pixels.assign(size_t(s.count() * size_of(dtype)), 0);
                          return pixels.data();
                        });
      return shape;
    });
  }

  std::string run(const JpegOptions& options, const Bytes& file, const Origin& origin) {
    return outcome(origin, pixels, [&] {
      const JpegHeader header = jpeg_.open(file, origin);
      const int channels = std::min(header.channels, 3), width = header.width * channels;
      pixels.assign(size_t(width) * size_t(header.height), 0);
      jpeg_.decode_into(options, pixels.data(), width);
      return fmt::format("uint8 {}x{}x{}", header.height, header.width, channels);
    });
  }

  Bytes pixels;

 private:
  ImageScratch scratch_;
  JpegDecoder jpeg_;
};

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void save(const std::string& path, const Bytes& pixels) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(pixels.data()), std::streamsize(pixels.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: decode_all FOLDER < list of paths\n");
    return 2;
  }
  Decoder decoder;
  const std::vector<Way> ways = all_ways();
  int number = 0;
  for (std::string path; std::getline(std::cin, path); ++number) {
    const Bytes file = read_file(path);
    const Origin origin{.file = path};
    fmt::print("{}", path);
    for (const Way& way : ways) {
      fmt::print("\t{}={}", way.name, decoder.run(way.chain, file, origin));
      if (&way == &ways[0]) save(fmt::format("{}/{}", argv[1], number), decoder.pixels);
    }
    if (format_of(file) == ImageFormat::kJpeg) {
      fmt::print("\tlibjpeg={}", decoder.run(JpegOptions{.plain = true}, file, origin));
      fmt::print("\tdamaged={}", decoder.run(JpegOptions{.allow_damage = true}, file, origin));
    }
    fmt::print("\n");
    std::fflush(stdout);  // so that a crash leaves the name of its file
  }
  return 0;
}
