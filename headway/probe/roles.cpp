#include "headway/probe/roles.h"

#include <algorithm>
#include <set>

namespace headway {
namespace {

constexpr double kLaunchesS = 1, kLongS = 6;  // waiting for children, before one is chosen
constexpr double kBusy = 0.3;                 // cores

// `pid` and all its descendants.
std::set<pid_t> family_of(std::span<const RunProcess> tree, pid_t pid) {
  std::set<pid_t> out = {pid};
  for (const RunProcess& p : tree)
    if (out.count(p.parent)) out.insert(p.pid);
  return out;
}

// Among the children of a launcher: the first that trains; after a while, the first that computes.
pid_t chosen_by(std::span<const RunProcess> tree, const RunProcess& launcher) {
  if (launcher.launches_s < kLaunchesS) return launcher.pid;
  const std::set<pid_t> family = family_of(tree, launcher.pid);
  const auto started = [&](const RunProcess& p) {
    return p.pid != launcher.pid && p.python && family.count(p.pid);
  };
  for (const RunProcess& p : tree)
    if (started(p) && p.trains) return p.pid;
  if (launcher.launches_s < kLongS) return launcher.pid;
  for (const RunProcess& p : tree)
    if (started(p) && p.cores >= kBusy) return p.pid;
  return launcher.pid;
}

}  // namespace

pid_t who_trains(std::span<const RunProcess> tree, pid_t current) {
  const auto find = [&](auto&& test) { return std::find_if(tree.begin(), tree.end(), test); };
  auto main = find([&](const RunProcess& p) { return p.pid == current && p.python; });
  if (main == tree.end()) main = find([](const RunProcess& p) { return p.python; });
  if (main == tree.end()) return tree.empty() ? 0 : tree.front().pid;
  return chosen_by(tree, *main);
}

void give_roles(std::span<RunProcess> tree, pid_t main) {
  const std::set<pid_t> family = family_of(tree, main);
  std::set<pid_t> above;  // its parent, and that one's ancestors
  pid_t next = main;
  for (auto p = tree.rbegin(); p != tree.rend(); ++p) {
    if (p->pid != next) continue;
    next = p->parent;
    if (p->pid != main) above.insert(p->pid);
  }
  for (RunProcess& p : tree) {
    if (p.pid == main) p.role = Role::kMain;
    else if (!p.python || above.count(p.pid)) p.role = Role::kOther;
    else p.role = p.trains && !family.count(p.pid) ? Role::kRank : Role::kWorker;
  }
}

}  // namespace headway
