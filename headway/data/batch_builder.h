#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "headway/core/buffer_pool.h"
#include "headway/core/element.h"
#include "headway/core/sync.h"

namespace headway {

// Assembles one batch from samples that many threads finish in any order: each writes its own row,
// in place where it can. The first sample decides the fields, their types and shapes.
class BatchBuilder {
 public:
  explicit BatchBuilder(std::shared_ptr<BufferPool> pool) : pool_(std::move(pool)) {}

  // Starts a batch of at most `rows` samples. `first_sample` is for messages.
  void start(int64_t rows, int64_t first_sample);

  // Memory for one row of a field, made if this is the first sample to ask; null if it cannot fit.
  void* place(int64_t row, Name name, DType dtype, const Shape& shape);

  // Puts a finished sample into its row; what already lies there (by place) is not copied again.
  // Throws when fields, types or shapes differ from the batch's.
  void put(int64_t row, const Element& sample);

  // The batch, its first `rows` rows. Call once, when all rows are in.
  Element finish(int64_t rows);

 private:
  struct Column {
    Name name;
    DType dtype;
    Shape shape;  // of one row
    int64_t row_bytes;
    Tensor values;  // rows x shape; not for strings
    char* base = nullptr;
    std::vector<Tensor> strings;  // one a row, until finish() packs them
  };

  Column make_column(Name name, DType dtype, const Shape& shape);
  void build_from(const Element& sample) HEADWAY_EXCLUDES(mu_);
  void put_field(Column& column, int64_t row, const Tensor& value);
  [[noreturn]] void mismatch(const Column& column, int64_t row, const Tensor& value) const;
  [[noreturn]] void wrong_fields(int64_t row, const Element& sample) const;

  std::shared_ptr<BufferPool> pool_;
  int64_t rows_ = 0;
  int64_t first_sample_ = 0;
  // Complete (and constant but for the rows' own bytes) once built_ is set; under mu_ before.
  std::vector<Column> columns_;
  std::atomic<bool> built_{false};
  Mutex mu_;
};

// One row of a batch that is being built: where a sample may write a field directly, so that
// nothing is copied afterwards.
struct BatchRow {
  BatchBuilder* batch = nullptr;
  int64_t row = 0;

  // The memory of this sample's field in the batch, or null when it does not fit what the batch
  // already holds (put() will then say so).
  void* place(Name name, DType dtype, const Shape& shape) const {
    return batch->place(row, name, dtype, shape);
  }
};

}  // namespace headway
