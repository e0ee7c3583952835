#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway::bench {

// A peer that waits for orders: a child process that prints a JSON line when it is ready, and one
// for each order. See peers/train_protocol.py.
class LinePeer {
 public:
  explicit LinePeer(const std::string& command);
  LinePeer(const LinePeer&) = delete;
  ~LinePeer();  // ends its input, waits for it

  bool ready() const { return ready_; }
  nlohmann::json order(const std::string& line);  // null when the peer has died

 private:
  nlohmann::json read_line();

  int pid_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
  bool ready_ = false;
};

}  // namespace headway::bench
