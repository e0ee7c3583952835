#pragma once

#include <string>

#include "headway/check/facts.h"

namespace headway {

// The file system on which a folder or file of data lies.
DiskFacts read_disk(const std::string& path);

// How fast it is read: long reads of large files, then short reads at places drawn by lot, each for
// about `seconds`, by one reader, past the page cache where the file system allows it. The files
// are the user's own where there are suitable ones; else a file of ours, made there and removed.
DiskSpeed measure_disk(const DiskFacts& disk, double seconds);

}  // namespace headway
