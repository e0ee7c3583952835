#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

namespace headway {

// What ends a run: what went wrong, and what to do about it.
//
//   throw Error("batch: sample 812 is 3x30x32, others are 3x32x32", "resize before batching");
//
// what() holds both, the hint on a line of its own behind "--->".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& problem, std::string hint = "", std::string cause = "");

  const std::string& problem() const { return problem_; }
  const std::string& hint() const { return hint_; }
  // A page of docs/causes, when one tells more; else empty.
  const std::string& cause() const { return cause_; }

  // The same error told from one level further out: "<context>: <problem>", hint kept.
  Error within(const std::string& context) const {
    return Error(context + ": " + problem_, hint_, cause_);
  }

 private:
  std::string problem_;
  std::string hint_;
  std::string cause_;
};

// Where a sample came from. `offset` is in bytes; -1 where it has no meaning.
struct Origin {
  std::string file;
  int64_t offset = -1;

  bool empty() const { return file.empty(); }
  std::string str() const;  // "photos/cat.jpg" or "train.tfrecord at byte 1024"
};

// One sample is bad while the rest may be good: the error policy decides whether it ends the run.
// Names the file and the byte offset at which the trouble lies.
class SampleError : public Error {
 public:
  SampleError(Origin origin, const std::string& reason, std::string hint = "");

  const Origin& origin() const { return origin_; }
  const std::string& reason() const { return reason_; }

  SampleError within(const std::string& context) const {
    return SampleError(origin_, context + ": " + reason_, hint());
  }

 private:
  Origin origin_;
  std::string reason_;
};

// `error` as an Error or SampleError with `context` in front; other exceptions keep their text.
std::exception_ptr with_context(std::exception_ptr error, const std::string& context);

// The text of any exception.
std::string message_of(std::exception_ptr error);

}  // namespace headway
