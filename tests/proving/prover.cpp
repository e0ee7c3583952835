// One case of the proving ground: prover CASE --trace FILE --folder DIR [--level X] [--seed N]
// [--seconds S] [--cured] [--probe]; `prover --list` says which there are. What it does is in the
// trace.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "headway/core/clock.h"
#include "headway/trace/trace.h"
#include "tests/proving/ground.h"

namespace headway::ground {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& family :
       {input_cases(), machine_cases(), learning_cases(), loop_cases(), healthy_cases()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

void list() {
  nlohmann::json out = nlohmann::json::array();
  for (const Case& c : all_cases()) {
    out.push_back({{"name", c.name},
                   {"expected", c.expected},
                   {"also", c.also},
                   {"needs", c.needs},
                   {"cure", c.has_cure},
                   {"mild", c.mild}});
  }
  fmt::print("{}\n", out.dump(1));
}

int run(const std::string& name, Setup& setup) {
  for (const Case& c : all_cases()) {
    if (c.name != name) continue;
    c.run(setup);
    return 0;
  }
  fmt::print(stderr, "no case is called '{}'\n", name);
  return 2;
}

}  // namespace
}  // namespace headway::ground

int main(int argc, char** argv) {
  using namespace headway::ground;
  CLI::App app("One case of the proving ground.");
  std::string name;
  bool listing = false;
  double seconds = 14;
  Setup setup;
  app.add_option("case", name);
  app.add_flag("--list", listing);
  app.add_option("--trace", setup.fit.trace);
  app.add_option("--folder", setup.folder);
  app.add_option("--level", setup.level);
  app.add_option("--seed", setup.seed);
  app.add_option("--seconds", seconds);
  app.add_flag("--cured", setup.cured);
  app.add_flag("--replay", setup.fit.replay);
  CLI11_PARSE(app, argc, argv);
  if (listing) return list(), 0;
  setup.fit.show = headway::Show::kNothing;
  setup.fit.seed = setup.seed;
  // From the first step on: drawing the data does not count.
  setup.fit.should_stop = [seconds, begun = int64_t{0}]() mutable {
    if (begun == 0) begun = headway::now_ns();
    return 1e-9 * double(headway::now_ns() - begun) > seconds;
  };
  try {
    return run(name, setup);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
