#include "headway/train/loop/callback_list.h"

#include <fmt/format.h>

#include <set>

#include "headway/core/error.h"

namespace headway {

CallbackList::CallbackList(std::vector<CallbackPtr> callbacks) : callbacks_(std::move(callbacks)) {
  std::set<std::string> names;
  for (const CallbackPtr& callback : callbacks_) {
    want_batches_ = want_batches_ || callback->wants_batches();
    if (!names.insert(callback->name()).second) {
      throw Error(fmt::format("two callbacks have the name '{}'", callback->name()),
                  "remove one, or give one of them another name");
    }
  }
}

std::vector<std::string> CallbackList::names() const {
  std::vector<std::string> names;
  for (const CallbackPtr& callback : callbacks_) names.push_back(callback->name());
  return names;
}

std::map<std::string, std::string> CallbackList::save() const {
  std::map<std::string, std::string> saved;
  for (const CallbackPtr& callback : callbacks_) saved[callback->name()] = callback->save();
  return saved;
}

void CallbackList::restore(const std::map<std::string, std::string>& saved) const {
  for (const CallbackPtr& callback : callbacks_) {
    const auto own = saved.find(callback->name());
    if (own != saved.end()) callback->restore(own->second);
  }
}

}  // namespace headway
