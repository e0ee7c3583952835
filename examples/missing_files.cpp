// "Stuck at epoch 1": a generator that passes over missing files waits forever when all of them are
// missing. As a dataset of paths, the first one is named at once (seed example 000-1). Prints:
//
//   the generator gave nothing; the report names the stage that waits: yes
//   as files: no-such-folder/image_0.png: decode+resize: cannot open: No such file or directory
//   allowed to skip 9: 10 of 10 samples were bad, more than the error budget allows; the last: ...
#include <headway/headway.h>

#include <atomic>
#include <cstdio>
#include <fstream>

using namespace headway;

std::vector<std::string> missing_paths() {
  std::vector<std::string> paths;
  for (int i = 0; i < 1000; ++i)
    paths.push_back("no-such-folder/image_" + std::to_string(i) + ".png");
  return paths;
}

// The mistake: what cannot be opened is passed over without a word, round after round. A real one
// has no `give_up`.
Dataset forgiving_generator(const std::vector<std::string>& paths, std::atomic<bool>& give_up) {
  return generator([&] {
    return [&, i = size_t{0}]() mutable -> std::optional<Element> {
      while (!give_up) {
        const std::string& path = paths[i++ % paths.size()];
        if (std::ifstream(path)) return Element(Tensor::string(path));
      }
      return std::nullopt;
    };
  });
}

// The error that reading the dataset ends in.
std::string problem_of(const Dataset& dataset) {
  try {
    for (const Element& element : dataset) (void)element;
  } catch (const Error& e) {
    return e.problem();
  }
  return "no error";
}

int main() {
  const std::vector<std::string> paths = missing_paths();

  std::atomic<bool> named = false;
  set_log_sink([&](LogLevel, const std::string& report) {
    std::fprintf(stderr, "%s\n", report.c_str());
    if (report.find("reading the next element of generator") != std::string::npos) named = true;
  });
  Pipeline stuck =
      forgiving_generator(paths, named).batch(32).with_options({.stall_report_s = 0.3}).start();
  const bool nothing = !stuck.next();
  set_log_sink({});
  std::printf("the generator gave nothing; the report names the stage that waits: %s\n",
              nothing && named ? "yes" : "no");

  const Dataset images = files(paths).decode_image().resize({.height = 256, .width = 256});
  const std::string at_once = problem_of(images.batch(32));
  std::printf("as files: %s\n", at_once.c_str());
  const std::string skipping =
      problem_of(images.with_options({.errors = ErrorPolicy::skip_up_to(9)}));
  std::printf("allowed to skip 9: %s\n", skipping.c_str());
  return nothing && named && at_once.find(paths[0]) == 0 &&
                 skipping.find("10 ") != std::string::npos
             ? 0
             : 1;
}
