#include "headway/view/comparison_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "headway/view/summary_json.h"

namespace headway {
using Json = nlohmann::ordered_json;

namespace {

Json json_of_speed(const SpeedChange& speed, bool per_sample) {
  return {{"of", per_sample ? "samples" : "steps"},
          {"a_per_s", json_of(speed.a)},
          {"b_per_s", json_of(speed.b)},
          {"ratio", json_of(speed.ratio)},
          {"change", text_of(speed.change)},
          {"visible_from", std::isfinite(speed.visible) ? Json(speed.visible) : Json()}};
}

Json json_of_share(const Share& share) {
  return {{"share", share.share}, {"low", share.low}, {"high", share.high}};
}

Json json_of_change(const AccountChange& each) {
  return {{"account", text_of(each.account)},
          {"a", json_of_share(each.a_time)},
          {"b", json_of_share(each.b_time)},
          {"a_s", each.a_cost ? json_of(*each.a_cost) : Json()},
          {"b_s", each.b_cost ? json_of(*each.b_cost) : Json()},
          {"change", text_of(each.change)}};
}

Json ids_of(const std::vector<NamedCause>& causes) {
  Json out = Json::array();
  for (const NamedCause& each : causes) out.push_back(text_of(each.cause));
  return out;
}

}  // namespace

Json json_of(const Comparison& c) {
  Json accounts = Json::array(), settings = Json::array();
  for (const AccountChange& each : c.accounts) accounts.push_back(json_of_change(each));
  for (const SettingChange& each : c.settings)
    settings.push_back({{"name", each.name}, {"a", each.a}, {"b", each.b}});
  return {{"sentence", headline(c)},
          {"differs", c.differs()},
          {"worse", c.worse},
          {"verdicts", {{"a", text_of(c.a_state)}, {"b", text_of(c.b_state)}}},
          {"speed", c.speed ? json_of_speed(*c.speed, c.per_sample) : Json()},
          {"accounts", std::move(accounts)},
          {"causes",
           {{"went", ids_of(c.went)}, {"came", ids_of(c.came)}, {"stayed", ids_of(c.stayed)}}},
          {"settings", std::move(settings)}};
}

}  // namespace headway
