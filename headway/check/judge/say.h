#pragma once

#include <string>
#include <utility>

#include "headway/check/check_line.h"

// Inside check/judge: lines of one topic.
namespace headway {

class Say {
 public:
  Say(CheckTopic topic, CheckLines& lines) : topic_(topic), lines_(lines) {}

  void good(const char* id, std::string found) { add(id, Fit::kGood, std::move(found), {}); }
  struct Advice {
    std::string why{}, remedy{};
    const char* cause = "";
  };
  void doubtful(const char* id, std::string found, Advice advice) {
    add(id, Fit::kDoubtful, std::move(found), std::move(advice));
  }
  void wrong(const char* id, std::string found, Advice advice) {
    add(id, Fit::kWrong, std::move(found), std::move(advice));
  }
  void not_seen(const char* id, std::string found, Advice advice) {
    add(id, Fit::kNotSeen, std::move(found), std::move(advice));
  }
  void add(const char* id, Fit fit, std::string found, Advice advice) {
    lines_.push_back({id, topic_, fit, std::move(found), std::move(advice.why),
                      std::move(advice.remedy), advice.cause});
  }

 private:
  CheckTopic topic_;
  CheckLines& lines_;
};

}  // namespace headway
