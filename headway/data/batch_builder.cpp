#include "headway/data/batch_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

// Packs one string tensor a row into one tensor whose storage owns all the bytes.
Tensor pack_strings(const std::vector<Tensor>& rows, int64_t count, const Shape& shape) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < count; ++i) {
    for (std::string_view s : rows[i].values<std::string_view>()) all.emplace_back(s);
  }
  return Tensor::strings(all).reshaped(shape.with_outer(count));
}

}  // namespace

void BatchBuilder::start(int64_t rows, int64_t first_sample) {
  rows_ = rows;
  first_sample_ = first_sample;
  columns_.clear();
  built_.store(false, std::memory_order_relaxed);
}

BatchBuilder::Column BatchBuilder::make_column(Name name, DType dtype, const Shape& shape) {
  Column column{name, dtype, shape, shape.count() * size_of(dtype), {}, nullptr, {}};
  if (dtype == DType::kString) {
    column.strings.resize(rows_);
  } else {
    column.values = pool_->tensor(dtype, shape.with_outer(rows_));
    column.base = static_cast<char*>(column.values.data());
  }
  return column;
}

void* BatchBuilder::place(int64_t row, Name name, DType dtype, const Shape& shape) {
  const auto find = [&]() -> Column* {
    for (Column& c : columns_) {
      if (c.name == name) return &c;
    }
    return nullptr;
  };
  Column* column = nullptr;
  char* base = nullptr;
  if (built_.load(std::memory_order_acquire)) {
    column = find();
    if (!column || column->dtype != dtype || !(column->shape == shape)) return nullptr;
    base = column->base;
  } else {
    MutexLock lock(mu_);
    column = find();
    if (!column && !built_.load(std::memory_order_relaxed)) {
      columns_.push_back(make_column(name, dtype, shape));
      column = &columns_.back();
    }
    if (!column || column->dtype != dtype || !(column->shape == shape)) return nullptr;
    base = column->base;
  }
  return base ? base + row * shape.count() * size_of(dtype) : nullptr;
}

// Gives the columns the fields and the order of `sample`, keeping those that place() made.
void BatchBuilder::build_from(const Element& sample) {
  MutexLock lock(mu_);
  if (built_.load(std::memory_order_relaxed)) return;
  std::vector<Column> columns;
  columns.reserve(sample.size());
  for (const Field& field : sample.fields()) {
    const auto placed = std::find_if(columns_.begin(), columns_.end(),
                                     [&](const Column& c) { return c.name == field.name; });
    columns.push_back(placed != columns_.end()
                          ? std::move(*placed)
                          : make_column(field.name, field.value.dtype(), field.value.shape()));
  }
  columns_ = std::move(columns);
  built_.store(true, std::memory_order_release);
}

inline void BatchBuilder::put_field(Column& column, int64_t row, const Tensor& value) {
  const bool fits = value.dtype() == column.dtype && value.rank() == column.shape.rank() &&
                    (value.rank() == 0 || value.shape() == column.shape);
  if (!fits) mismatch(column, row, value);
  if (column.dtype == DType::kString) {
    column.strings[row] = value;
    return;
  }
  char* target = column.base + row * column.row_bytes;
  if (column.row_bytes == 8) {
    std::memcpy(target, value.data(), 8);
  } else if (value.data() != target && column.row_bytes > 0) {
    std::memcpy(target, value.data(), column.row_bytes);
  }
}

void BatchBuilder::put(int64_t row, const Element& sample) {
  if (!built_.load(std::memory_order_acquire)) build_from(sample);
  if (sample.size() != columns_.size()) wrong_fields(row, sample);
  const Field* field = sample.fields().data();
  for (Column& column : columns_) {
    const Tensor* value = &field->value;
    if (field->name != column.name) value = sample.find(column.name);  // in another order
    if (!value) wrong_fields(row, sample);
    put_field(column, row, *value);
    ++field;
  }
}

Element BatchBuilder::finish(int64_t rows) {
  Element batch;
  batch.fields().reserve(columns_.size());
  for (Column& c : columns_) {
    if (c.dtype == DType::kString) {
      batch.append(c.name, pack_strings(c.strings, rows, c.shape));
    } else if (rows == rows_) {
      batch.append(c.name, std::move(c.values));
    } else {
      batch.append(c.name, Tensor::view(c.dtype, c.shape.with_outer(rows), c.values.data(),
                                        c.values.storage()));
    }
  }
  columns_.clear();
  return batch;
}

void BatchBuilder::mismatch(const Column& column, int64_t row, const Tensor& value) const {
  const bool ragged = value.dtype() == column.dtype && value.rank() == column.shape.rank();
  throw Error(fmt::format("batch: '{}' of sample {} is {} of shape {}, but other samples in the "
                          "batch have {} of shape {}",
                          column.name.str(), first_sample_ + row, name_of(value.dtype()),
                          value.shape().str(), name_of(column.dtype), column.shape.str()),
              ragged ? "resize images before .batch(), or use .padded_batch() for sequences"
                     : "give every sample the same type and number of dimensions, with a .map() "
                       "before .batch()");
}

void BatchBuilder::wrong_fields(int64_t row, const Element& sample) const {
  std::vector<std::string> have, want;
  for (const Field& f : sample.fields()) have.push_back(f.name.str());
  for (const Column& c : columns_) want.push_back(c.name.str());
  throw Error(
      fmt::format("batch: sample {} has the fields [{}], but other samples in the batch have [{}]",
                  first_sample_ + row, fmt::join(have, ", "), fmt::join(want, ", ")),
      "give every sample the same fields, with a .map() before .batch()");
}

}  // namespace headway
