#include "cli/complain.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cli/interrupt.h"
#include "headway/core/error.h"
#include "headway/core/print.h"
#include "headway/core/resource_error.h"

namespace headway::cli {

int complain(int status, const std::string& problem, const std::string& hint) {
  std::fflush(stdout);
  print_lines(stderr, "headway: " + visible_message(problem) + "\n");
  if (!hint.empty()) print_lines(stderr, "  ---> " + visible_message(hint) + "\n");
  return status;
}

int guarded(const std::function<int()>& body) {
  catch_interrupts();
  try {
    return body();
  } catch (const Interrupted& e) {
    print(stderr, "headway: interrupted\n");
    return e.exit_status();
  } catch (const SampleError& e) {
    return complain(kFailed, e.problem(),
                    e.hint().empty() ? "replace it, or take it out of the dataset" : e.hint());
  } catch (const Error& e) {
    return complain(kFailed, e.problem(), e.hint());
  } catch (const std::filesystem::filesystem_error& e) {
    if (!is_of_one_file(e.code().value())) {  // a full disk, say
      const Error why = resource_error(e.path1().string(), "cannot use", e.code().value());
      return complain(kFailed, why.problem(), why.hint());
    }
    return complain(kFailed, e.path1().string() + ": " + e.code().message(),
                    "check that the folder exists and that this user may write there");
  } catch (const std::bad_alloc&) {
    const Error e = out_of_memory();
    return complain(kFailed, e.problem(), e.hint());
  } catch (const std::exception& e) {
    return complain(kFailed, e.what(), "");
  }
}

}  // namespace headway::cli
