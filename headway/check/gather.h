#pragma once

#include <string>

#include "headway/check/facts.h"

namespace headway {

struct CheckOptions {
  std::string data = ".";     // the folder or file of the data
  bool measure_disk = true;   // takes some seconds
  double disk_seconds = 1.5;  // for long reads, and again for short ones
  std::string python{};       // a program; empty: the active one
  std::string script{};       // read, not run; empty: none
  std::string own_trainer{};  // headway-train
};

// Reads the machine. Nothing is changed (where the disk is measured in a folder without suitable
// files, a file of ours lies there meanwhile), and no module or framework is loaded.
MachineFacts gather(const CheckOptions& options);

}  // namespace headway
