//===- check.cpp - checks of kernel operands ------------------------------===//
#include "common/kernels/check.h"

#include "common/elementwise/cast.h"
#include "ffrt/error.h"

namespace ffrt {

const char *name_of(DType type) {
  switch (type) {
  case DType::f32:
    return "f32";
  case DType::f64:
    return "f64";
  case DType::i32:
    return "i32";
  case DType::i64:
    return "i64";
  case DType::u8:
    return "u8";
  case DType::boolean:
    return "boolean";
  case DType::bf16:
    return "bf16";
  case DType::f16:
    return "f16";
  }
  return "unknown";
}

std::string to_string(int rank, const Index &values) {
  std::string text = "[";
  for (int d = 0; d < rank; ++d)
    text += (d ? ", " : "") + std::to_string(values[d]);
  return text + "]";
}

void expect(const char *kernel, bool holds, const std::string &text) {
  if (!holds)
    throw Error(std::string(kernel) + ": " + text);
}

void expect_count(const char *kernel, const char *what, std::size_t found,
                  std::size_t expected) {
  expect(kernel, found == expected,
         "expected " + std::to_string(expected) + " " + what + ", found " +
             std::to_string(found));
}

void expect_type(const char *kernel, const char *operand, const Tensor &t,
                 DType expected) {
  expect(kernel, t.type == expected,
         std::string(operand) + ": expected type " + name_of(expected) +
             ", found " + name_of(t.type));
}

static bool is_float(DType type) {
  return type == kReal || (kHasLowPrecision && is_low_precision(type));
}

/// "f32, bf16 or f16"
static std::string float_types() {
  return std::string(name_of(kReal)) +
         (kHasLowPrecision ? ", bf16 or f16" : "");
}

void expect_float(const char *kernel, const char *operand, const Tensor &t) {
  expect(kernel, is_float(t.type),
         std::string(operand) + ": expected type " + float_types() +
             ", found " + name_of(t.type));
}

void expect_same_float(const char *kernel, const char *first, const Tensor &a,
                       const char *second, const Tensor &b) {
  expect(kernel, a.type == b.type && is_float(a.type),
         std::string(first) + " and " + second + ": expected one type, " +
             float_types() + ", found " + name_of(a.type) + " and " +
             name_of(b.type));
}

void expect_float_pair(const char *kernel, const char *operand, const Tensor &x,
                       const char *result, const Tensor &y) {
  expect_float(kernel, operand, x);
  expect_float(kernel, result, y);
  expect(kernel, x.type == y.type || x.type == kReal || y.type == kReal,
         std::string(operand) + " and " + result +
             ": expected at most one type besides " + name_of(kReal) +
             ", found " + name_of(x.type) + " and " + name_of(y.type));
}

void expect_real_or(const char *kernel, const char *operand, const Tensor &t,
                    DType type) {
  if (type == kReal)
    return expect_type(kernel, operand, t, type);
  expect(kernel, t.type == kReal || t.type == type,
         std::string(operand) + ": expected type " + name_of(kReal) + " or " +
             name_of(type) + ", found " + name_of(t.type));
}

void expect_rank(const char *kernel, const char *operand, const Tensor &t,
                 int expected) {
  expect(kernel, t.rank == expected,
         std::string(operand) + ": expected rank " + std::to_string(expected) +
             ", found " + std::to_string(t.rank));
}

void expect_row_major(const char *kernel, const char *operand,
                      const Tensor &t) {
  expect_rows(kernel, operand, t);
  expect(kernel, !t.is_pitched(),
         std::string(operand) + ": expected rows side by side, found them "
                                "pitched");
}

void expect_rows(const char *kernel, const char *operand, const Tensor &t) {
  expect(kernel, t.rank < 3 || t.order != Order::channels_last,
         std::string(operand) + ": expected row-major order, found "
                                "channels-last");
}

void expect_length(const char *kernel, const char *attribute,
                   const Ints &values, std::size_t expected) {
  expect(kernel, values.size() == expected,
         std::string(attribute) + ": expected " + std::to_string(expected) +
             " numbers, found " + std::to_string(values.size()));
}

void expect_same_shape(const char *kernel, const char *operand, const Tensor &t,
                       const Tensor &like) {
  bool same = t.rank == like.rank;
  for (int d = 0; same && d < t.rank; ++d)
    same = t.shape[d] == like.shape[d];
  expect(kernel, same,
         std::string(operand) + ": expected local shape " +
             to_string(like.rank, like.shape) + ", found " +
             to_string(t.rank, t.shape));
}

void expect_floats(const char *kernel, const char *operand, const Tensor &t,
                   std::initializer_list<int64_t> shape) {
  expect_dense(kernel, operand, t, kReal, shape);
}

void expect_dense(const char *kernel, const char *operand, const Tensor &t,
                  DType type, std::initializer_list<int64_t> shape) {
  if (!t.data)
    return;
  expect_type(kernel, operand, t, type);
  expect_row_major(kernel, operand, t);
  Tensor like = t;
  like.rank = int(shape.size());
  like.shape = shape;
  expect_same_shape(kernel, operand, t, like);
}

void expect_same_order(const char *kernel, const char *operand, const Tensor &t,
                       const Tensor &like) {
  expect(kernel,
         t.is_pitched() == like.is_pitched() &&
             (t.rank < 3 || t.order == like.order),
         std::string(operand) + ": expected the order of the first operand, "
                                "found another");
}

} // namespace ffrt
