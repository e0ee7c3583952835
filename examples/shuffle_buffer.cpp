// Does the shuffle buffer hold up the first batch? Behind the decoder it does: the larger, the
// longer, and full of decoded images. Shuffling the paths holds up nothing and mixes everything;
// where the paths have numbers Headway does that by itself, wherever shuffle stands (seed examples
// 000-2 and 000-3; 001 has it the wrong way round). Prints:
//
//   decoded before the first batch of 32 came out of a shuffle(640)
//     a stream, buffer filled first:        at least 640: yes
//     a stream, from a minimum fill of 80:  at least 111, less than 640: yes
//     a list of files:                      32: yes
//   planned for the list: shuffle before decode: yes
#include <headway/headway.h>
#include <headway/io/bytes/temp_folder.h>
#include <headway/io/images/png.h>

#include <atomic>
#include <cstdio>

using namespace headway;

std::vector<std::string> make_images(const TempFolder& folder) {
  std::vector<std::string> paths;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<uint8_t> pixels(3 * 16 * 16, static_cast<uint8_t>(i));
    const auto png = encode_png(pixels.data(), DType::kUInt8, 16, 16, 3, 3 * 16);
    paths.push_back(folder.write(std::to_string(i) + ".png", std::string(png.begin(), png.end())));
  }
  return paths;
}

// The same paths one after the other, as a program may give them: no numbers, no end known.
Dataset stream(const std::vector<std::string>& paths) {
  return generator([paths] {
    return [paths, i = size_t{0}]() mutable -> std::optional<Element> {
      if (i == paths.size()) return std::nullopt;
      Element element;
      element.set("path", Tensor::string(paths[i++]));
      return element;
    };
  });
}

struct Start {
  int decoded = 0;
  std::string plan;
};

Start first_batch(const Dataset& paths, ShuffleOptions options) {
  std::atomic<int> decoded = 0;
  Pipeline pipeline = paths.decode_image()
                          .map([&](Element e) { return ++decoded, e; })
                          .shuffle(options)
                          .batch(32)
                          .with_options({.threads = 0})  // nothing is worked ahead: exact counts
                          .start();
  pipeline.next();
  const std::string text = pipeline.explain();
  return {decoded, text.substr(text.find("planned"))};
}

int main() {
  const TempFolder folder;
  const std::vector<std::string> paths = make_images(folder);
  const Start filled = first_batch(stream(paths), {.buffer_size = 640, .minimum_fill = 640});
  const Start early = first_batch(stream(paths), {.buffer_size = 640, .minimum_fill = 80});
  const Start listed = first_batch(files(paths), {.buffer_size = 640});

  bool all = true;
  const auto say = [&](const char* text, bool holds) {
    std::printf("%s: %s\n", text, holds ? "yes" : "no");
    all = all && holds;
  };
  std::printf("decoded before the first batch of 32 came out of a shuffle(640)\n");
  say("  a stream, buffer filled first:        at least 640", filled.decoded >= 640);
  say("  a stream, from a minimum fill of 80:  at least 111, less than 640",
      early.decoded >= 111 && early.decoded < 640);
  say("  a list of files:                      32", listed.decoded == 32);
  say("planned for the list: shuffle before decode",
      listed.plan.find("shuffle") < listed.plan.find("decode"));
  return all ? 0 : 1;
}
