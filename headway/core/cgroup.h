#pragma once

#include <string>
#include <vector>

namespace headway {

// The cgroup of a process under one hierarchy and all its ancestors: /a/b, /a, "". `controller` is
// empty for version 2; `root` stands for "/", `process` is a number or "self".
std::vector<std::string> cgroup_lineage(const std::string& root, const std::string& controller,
                                        const std::string& process = "self");

}  // namespace headway
