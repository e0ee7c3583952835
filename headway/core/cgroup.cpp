#include "headway/core/cgroup.h"

#include <fstream>
#include <sstream>

namespace headway {

std::vector<std::string> cgroup_lineage(const std::string& root, const std::string& controller,
                                        const std::string& process) {
  std::ifstream in(root + "/proc/" + process + "/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::stringstream names(line.substr(first + 1, second - first - 1));
    bool match = controller.empty() && second == first + 1;
    for (std::string name; std::getline(names, name, ',');) match |= name == controller;
    if (!match) continue;
    std::string path = line.substr(second + 1);
    std::vector<std::string> paths;
    while (path.size() > 1) {
      paths.push_back(path);
      path.resize(path.rfind('/'));
    }
    paths.push_back("");
    return paths;
  }
  return {""};
}

}  // namespace headway
