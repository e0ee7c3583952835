#pragma once

#include <string_view>

namespace headway {

// docs/causes/<cause>.md as Markdown, for those who have no checkout beside them; empty when there
// is no such page.
std::string_view cause_page(std::string_view cause);

}  // namespace headway
