#include "headway/view/json.h"

#include <nlohmann/json.hpp>

namespace headway {

using Json = nlohmann::ordered_json;

Json json_of(const Finding& f) {
  return {{"cause", f.id()},
          {"severity", severity_name(f.severity)},
          {"confidence", f.confidence},
          {"summary", f.summary},
          {"evidence", f.evidence},
          {"where", f.where},
          {"fix", f.fix},
          {"predicted_gain", f.predicted_gain ? Json(*f.predicted_gain) : Json()},
          {"page", f.page()}};
}

Json json_of(const std::vector<LedgerLine>& ledger) {
  Json list = Json::array();
  for (const LedgerLine& line : ledger)
    list.push_back({{"account", text_of(line.account)},
                    {"device", text_of(line.device)},
                    {"share", line.time.share},
                    {"low", line.time.low},
                    {"high", line.time.high},
                    {"where", line.where}});
  return list;
}

Json json_of(const Verdict& verdict, const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& f : findings) list.push_back(json_of(f));
  return {{"verdict", text_of(verdict.state)},
          {"sentence", verdict.sentence},
          {"findings", list},
          {"eta_s", verdict.eta_s ? Json(*verdict.eta_s) : Json()}};
}

}  // namespace headway
