//===- check.h - checks of kernel operands ----------------------*- C++ -*-===//
//
// Used by constructors; all throw Error naming the kernel and the operand.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_CHECK_H
#define FFRT_COMMON_CHECK_H

#include "ffrt/kernel.h"

#include <string>

namespace ffrt {

const char *name_of(DType type);

/// "[2, 3, 4]"
std::string to_string(int rank, const Index &values);

void expect_count(const char *kernel, const char *what, std::size_t found,
                  std::size_t expected);
void expect_type(const char *kernel, const char *operand, const Tensor &t,
                 DType expected);
/// f32, bf16 or f16.
void expect_float(const char *kernel, const char *operand, const Tensor &t);
/// The operands of a product, called `first` and `second`, are both f32, bf16
/// or f16.
void expect_same_float(const char *kernel, const char *first, const Tensor &a,
                       const char *second, const Tensor &b);
/// Operand and result are each f32, bf16 or f16, and if both are of lower
/// precision than f32 of one type.
void expect_float_pair(const char *kernel, const char *operand, const Tensor &x,
                       const char *result, const Tensor &y);
/// What goes with such operands, of `type`, is f32 or like them.
void expect_real_or(const char *kernel, const char *operand, const Tensor &t,
                    DType type);
void expect_rank(const char *kernel, const char *operand, const Tensor &t,
                 int expected);
void expect_row_major(const char *kernel, const char *operand, const Tensor &t);
/// Row-major or pitched.
void expect_rows(const char *kernel, const char *operand, const Tensor &t);
void expect_length(const char *kernel, const char *attribute,
                   const Ints &values, std::size_t expected);
/// Both tensors have the same rank and local extents.
void expect_same_shape(const char *kernel, const char *operand, const Tensor &t,
                       const Tensor &like);
void expect_same_order(const char *kernel, const char *operand, const Tensor &t,
                       const Tensor &like);
/// Absent, or f32 of a local shape in row-major order.
void expect_floats(const char *kernel, const char *operand, const Tensor &t,
                   std::initializer_list<int64_t> shape);
/// The same of another type.
void expect_dense(const char *kernel, const char *operand, const Tensor &t,
                  DType type, std::initializer_list<int64_t> shape);
/// Throws "<kernel>: <text>" unless `holds`.
void expect(const char *kernel, bool holds, const std::string &text);

} // namespace ffrt

#endif // FFRT_COMMON_CHECK_H
