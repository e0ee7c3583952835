#pragma once

#include <string>

#include "headway/io/bytes/path_list.h"

namespace headway {

// The files that match a pattern, sorted folder by folder:
//   *  ?  [a-z]  within a name; names that start with a dot only where the pattern does
//   **           any number of folders, links to folders not followed
//   {a,b}        either
// A path that exists as it is written stands for itself. Folders are not listed. No match throws
// Error with the pattern and the deepest folder of it that exists.
//
//   list_files("photos/**/*.{jpg,jpeg,png}")
PathList list_files(const std::string& pattern);

}  // namespace headway
