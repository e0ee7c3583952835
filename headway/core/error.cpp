#include "headway/core/error.h"

#include <utility>

namespace headway {
namespace {

std::string compose(const std::string& problem, const std::string& hint) {
  return hint.empty() ? problem : problem + "\n  ---> " + hint;
}

std::string locate(const Origin& origin, const std::string& reason) {
  return origin.empty() ? reason : origin.str() + ": " + reason;
}

}  // namespace

Error::Error(const std::string& problem, std::string hint, std::string cause)
    : std::runtime_error(compose(problem, hint)),
      problem_(problem),
      hint_(std::move(hint)),
      cause_(std::move(cause)) {}

std::string Origin::str() const {
  return offset < 0 ? file : file + " at byte " + std::to_string(offset);
}

SampleError::SampleError(Origin origin, const std::string& reason, std::string hint)
    : Error(locate(origin, reason), std::move(hint)), origin_(std::move(origin)), reason_(reason) {}

std::exception_ptr with_context(std::exception_ptr error, const std::string& context) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const SampleError& e) {
    return std::make_exception_ptr(e.within(context));
  } catch (const Error& e) {
    return std::make_exception_ptr(e.within(context));
  } catch (const std::exception& e) {
    return std::make_exception_ptr(Error(context + ": " + e.what()));
  } catch (...) {
    return std::make_exception_ptr(Error(context + ": an exception that is no std::exception"));
  }
}

std::string message_of(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace headway
