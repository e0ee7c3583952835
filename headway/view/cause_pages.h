#pragma once

#include <string_view>

namespace headway {

// docs/causes/<cause>.md as Markdown, built in for users without a checkout; empty when there is no
// such page.
std::string_view cause_page(std::string_view cause);

}  // namespace headway
