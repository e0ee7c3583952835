#include "headway/view/cause_pages.h"

#include <algorithm>
#include <iterator>

namespace headway {
namespace {

struct Page {
  std::string_view cause, text;
};
constexpr Page kPages[] = {
#include "cause_pages.inc"
};

}  // namespace

std::string_view cause_page(std::string_view cause) {
  const auto page = std::find_if(std::begin(kPages), std::end(kPages),
                                 [&](const Page& p) { return p.cause == cause; });
  return page == std::end(kPages) ? std::string_view() : page->text;
}

}  // namespace headway
