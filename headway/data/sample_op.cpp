#include "headway/data/sample_op.h"

namespace headway {

std::exception_ptr located(const std::string& op, const Element& sample) {
  try {
    throw;
  } catch (const SampleError& e) {
    return std::make_exception_ptr(
        e.origin().empty() ? SampleError(sample.origin(), op + ": " + e.reason(), e.hint())
                           : e.within(op));
  } catch (const Error& e) {
    return std::make_exception_ptr(SampleError(sample.origin(), op + ": " + e.problem(), e.hint()));
  } catch (const std::exception& e) {
    return std::make_exception_ptr(SampleError(sample.origin(), op + ": " + e.what()));
  } catch (...) {
    return std::make_exception_ptr(
        SampleError(sample.origin(), op + ": an exception that is no std::exception"));
  }
}

}  // namespace headway
