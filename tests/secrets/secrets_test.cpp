// Planted secrets and harmless texts, one JSON object a line, each through the function that its
// channel goes through on its way into a trace:
//   secrets_*.jsonl    {"channel": "argv", "text": ["train.py", "--pw", "x y"], "secret": "x y"}
//   harmless_*.jsonl   {"channel": "source", "text": "loss.backward()"}
// Channels: argv, environment, local ({"name", "value"}), source, exception, url.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "headway/probe/python/python_values.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

Texts texts_of(const Json& text) {
  if (text.is_array()) return text.get<Texts>();
  return {text.is_object() ? text.at("value").get<std::string>() : text.get<std::string>()};
}

std::string stored_variable(const Json& text) {
  const auto name = text.at("name").get<std::string>();
  if (kind_of_variable(name) == 0) return "";
  return redact_variable(name, text.at("value").get<std::string>());
}

Texts stored(const std::string& channel, const Json& text) {
  if (channel == "argv") return redact_command(text.get<Texts>());
  if (channel == "environment") return {redact_assignment(text.get<std::string>())};
  if (channel == "local") return {stored_variable(text)};
  if (channel == "source") return {redact_source(text.get<std::string>())};
  if (channel == "exception") return {redact_exception(text.get<std::string>())};
  if (channel == "url") return {redact_url(text.get<std::string>())};
  throw std::invalid_argument("no channel " + channel);
}

// Only variables on the list of helpful names are ever read.
bool counts(const Json& line) {
  return line.at("channel") != "local" ||
         kind_of_variable(line.at("text").at("name").get<std::string>()) != 0;
}

std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) out.push_back(Json::parse(line));
  return out;
}

std::vector<std::string> files(const std::string& prefix) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(SECRETS_FOLDER)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".jsonl")) out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct Tally {
  size_t good = 0, all = 0;
  std::map<std::string, std::pair<size_t, size_t>> channels{};

  void add(const std::string& channel, bool is_good) {
    good += is_good, ++all;
    channels[channel].first += is_good, ++channels[channel].second;
  }
  void print(const std::string& path, const char* what) const {
    std::cout << std::filesystem::path(path).filename().string() << ": " << good << " of " << all
              << " " << what;
    for (const auto& [name, count] : channels)
      std::cout << "; " << name << " " << count.first << "/" << count.second;
    std::cout << std::endl;
  }
};

TEST(PlantedSecrets, NoneIsStored) {
  const std::vector<std::string> paths = files("secrets_");
  ASSERT_FALSE(paths.empty()) << SECRETS_FOLDER;
  for (const std::string& path : paths) {
    Tally tally;
    for (const Json& line : lines_of(path)) {
      const std::string secret = line.at("secret"), channel = line.at("channel");
      bool hidden = true;
      for (const std::string& text : stored(channel, line.at("text")))
        hidden &= text.find(secret) == std::string::npos;
      EXPECT_TRUE(hidden) << channel << ": " << line.at("text");
      tally.add(channel, hidden);
    }
    tally.print(path, "secrets hidden");
    EXPECT_GE(tally.all, 50u);
  }
}

TEST(HarmlessTexts, NineteenOfTwentyStayWordForWord) {
  const std::vector<std::string> paths = files("harmless_");
  ASSERT_FALSE(paths.empty()) << SECRETS_FOLDER;
  for (const std::string& path : paths) {
    Tally tally;
    for (const Json& line : lines_of(path)) {
      if (!counts(line)) continue;
      const std::string channel = line.at("channel");
      const Texts came_out = stored(channel, line.at("text"));
      const bool same = came_out == texts_of(line.at("text"));
      if (!same) std::cout << "changed: " << line.at("text") << " -> " << Json(came_out) << "\n";
      tally.add(channel, same);
    }
    tally.print(path, "harmless texts word for word");
    EXPECT_GE(tally.all, 50u);
    EXPECT_GE(20 * tally.good, 19 * tally.all) << path;
  }
}

// Nothing that a program can say makes a reader of its text stumble: for the sanitizers.
TEST(PlantedSecrets, AnyTextIsReadWithoutTrouble) {
  std::vector<std::string> seeds;
  for (const std::string& path : files("secrets_"))
    for (const Json& line : lines_of(path)) seeds.push_back(line.dump());
  const std::string signs = "'\"#(){}[]=:,.-/\\ \n@%*?&0aZ_\x1b\xc2\x9b";
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string text = seeds[random() % seeds.size()];
    text = text.substr(random() % text.size(), random() % 120);
    for (size_t n = random() % 8; n > 0; --n)
      text.insert(random() % (text.size() + 1), 1, signs[random() % signs.size()]);
    for (const char* channel : {"environment", "source", "exception", "url"})
      EXPECT_LE(stored(channel, text)[0].size(), 3 * text.size() + 8);
    EXPECT_EQ(redact_command({"python", text, "-" + text}).size(), 3u);
    EXPECT_EQ(redact_command({"bash", "-c", text}).size(), 3u);
    redact_command({text});
    redact_variable("path", text);
  }
}

// What was redacted is redacted again by reports.
TEST(PlantedSecrets, TwiceIsTheSameAsOnce) {
  for (const std::string& path : files("secrets_")) {
    for (const Json& line : lines_of(path)) {
      if (line.at("channel") == "local") continue;
      const Texts once = stored(line.at("channel"), line.at("text"));
      const Json again = line.at("channel") == "argv" ? Json(once) : Json(once.at(0));
      EXPECT_EQ(stored(line.at("channel"), again), once) << line.at("text");
    }
  }
}

}  // namespace
}  // namespace headway
