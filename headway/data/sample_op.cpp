#include "headway/data/sample_op.h"

#include <new>
#include <system_error>

#include "headway/core/resource_error.h"

namespace headway {
namespace {

SampleError of_sample(const Element& sample, const std::string& reason,
                      const std::string& hint = "") {
  return SampleError(sample.origin(), reason, hint);
}

// The program is wrong, not the sample; the sample is named all the same, to find it with.
Error of_program(const Element& sample, const std::string& reason) {
  return Error(of_sample(sample, reason).problem(),
               "this ends the run, for it says nothing about the sample; a function that finds its "
               "sample bad throws SampleError or std::runtime_error, which can be skipped");
}

bool is_of_one_file(const std::error_code& code) {
  const bool is_errno =
      code.category() == std::system_category() || code.category() == std::generic_category();
  return is_errno && headway::is_of_one_file(code.value());
}

}  // namespace

std::exception_ptr located(const std::string& op, const Element& sample) {
  const auto pointer = [](const auto& e) { return std::make_exception_ptr(e); };
  try {
    throw;
  } catch (const SampleError& e) {
    return pointer(e.origin().empty() ? of_sample(sample, op + ": " + e.reason(), e.hint())
                                      : e.within(op));
  } catch (const ResourceError& e) {
    return pointer(e.within(op));
  } catch (const Error& e) {
    return pointer(Error(of_sample(sample, op + ": " + e.problem()).problem(), e.hint()));
  } catch (const std::bad_alloc&) {
    return pointer(out_of_memory().within(op));
  } catch (const std::system_error& e) {
    if (is_of_one_file(e.code())) return pointer(of_sample(sample, op + ": " + e.what()));
    return pointer(ResourceError(op + ": " + e.what(), "no sample is to blame for it"));
  } catch (const std::runtime_error& e) {
    return pointer(of_sample(sample, op + ": " + e.what()));
  } catch (const std::exception& e) {
    return pointer(of_program(sample, op + ": " + e.what()));
  } catch (...) {
    return pointer(of_program(sample, op + ": an exception that is no std::exception"));
  }
}

}  // namespace headway
