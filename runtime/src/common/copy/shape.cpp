//===- shape.cpp - kernels that only move elements ------------------------===//
#include "ffrt/shape.h"

#include "common/copy/move.h"
#include "common/device/target.h"
#include "common/kernels/check.h"
#include "ffrt/copy.h"

namespace ffrt {

namespace {

void expect_same_type(const char *kernel, const Tensor &x, const Tensor &y) {
  expect_type(kernel, "operand", x, y.type);
}

/// The same elements seen as a row-major tensor at `data`.
Tensor row_major(const Tensor &t, void *data) {
  Tensor r = t;
  r.order = Order::row_major;
  r.data = data;
  return r;
}

bool channels_last(const Tensor &t) {
  return t.rank >= 3 && t.order == Order::channels_last;
}

/// Pitched rows, whatever else its dimensions are.
Tensor matrix_of(const Tensor &t) {
  const int64_t columns = t.shape[t.rank - 1];
  Tensor matrix = t;
  matrix.rank = 2;
  matrix.shape = {t.elements() / columns, columns};
  return matrix;
}

void copy_whole(const Tensor &dst, const Tensor &src) {
  copy(dst, {}, src, {}, src.shape);
}

} // namespace

Reshape::Reshape(Context &, Tensors in, Tensors out) {
  expect_count("reshape", "operands", in.size(), 1);
  expect_count("reshape", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_same_type("reshape", x, y);
  expect("reshape", x.elements() == y.elements(),
         "expected " + std::to_string(y.elements()) + " elements, found " +
             std::to_string(x.elements()));
  expect("reshape",
         x.is_pitched() == y.is_pitched() &&
             (!x.is_pitched() || x.pitch() == y.pitch()),
         "expected operand and result of one pitch, found two");
  if (channels_last(x) && channels_last(y))
    scratch = allocate(std::size_t(x.elements()) * size_of(x.type));
}

void Reshape::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  if (x.data == y.data)
    return; // in place
  if (x.is_pitched())
    return copy_whole(matrix_of(y), matrix_of(x));
  if (!channels_last(y))
    return copy_whole(row_major(x, y.data), x);
  if (!channels_last(x))
    return copy_whole(y, row_major(y, x.data));
  copy_whole(row_major(x, scratch.get()), x);
  copy_whole(y, row_major(y, scratch.get()));
}

Transpose::Transpose(Context &, Tensors in, Tensors out, const Ints &perm)
    : perm(perm) {
  expect_count("transpose", "operands", in.size(), 1);
  expect_count("transpose", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_same_type("transpose", x, y);
  expect_length("transpose", "perm", perm, std::size_t(x.rank));
  expect_rank("transpose", "result", y, x.rank);
  for (int d = 0; d < y.rank; ++d)
    expect("transpose",
           perm[d] >= 0 && perm[d] < x.rank &&
               y.shape[d] == x.shape[int(perm[d])],
           "expected the result's local shape to be the operand's, permuted");
}

void Transpose::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  Index xs = x.strides(), permuted;
  for (int d = 0; d < y.rank; ++d)
    permuted[d] = xs[int(perm[d])];
  move_strided(y.type, Nest<2>(y.rank, y.shape, {y.strides(), permuted}),
               y.data, x.data);
}

Concat::Concat(Context &, Tensors in, Tensors out, int64_t axis)
    : axis(int(axis)) {
  expect_count("concat", "results", out.size(), 1);
  const Tensor &y = out.begin()[0];
  expect("concat", axis >= 0 && axis < y.rank,
         "axis: expected a dimension of the result, found " +
             std::to_string(axis));
  for (const Tensor &x : in) {
    expect_same_type("concat", x, y);
    expect_rank("concat", "operand", x, y.rank);
  }
}

void Concat::operator()(Tensors in, Tensors out) {
  Index shift;
  for (const Tensor &x : in) {
    copy_overlap(out.begin()[0], x, shift);
    shift[axis] += x.global[axis];
  }
}

Slice::Slice(Context &, Tensors in, Tensors out, const Ints &starts) {
  expect_count("slice", "operands", in.size(), 1);
  expect_count("slice", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_same_type("slice", x, y);
  expect_rank("slice", "operand", x, y.rank);
  expect_length("slice", "starts", starts, std::size_t(x.rank));
  for (int d = 0; d < x.rank; ++d)
    shift[d] = -starts[d];
}

void Slice::operator()(Tensors in, Tensors out) {
  if (in.begin()->data != out.begin()->data) // in place
    copy_overlap(out.begin()[0], in.begin()[0], shift);
}

Pad::Pad(Context &, Tensors in, Tensors out, const Ints &pads, double value)
    : value(value) {
  expect_count("pad", "operands", in.size(), 1);
  expect_count("pad", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_same_type("pad", x, y);
  expect_rank("pad", "operand", x, y.rank);
  expect("pad",
         y.type == kReal || y.type == DType::bf16 || y.type == DType::f16 ||
             y.type == DType::i32,
         std::string("expected type ") + name_of(kReal) +
             ", bf16, f16 or i32, found " + name_of(y.type));
  expect_length("pad", "pads", pads, 2 * std::size_t(y.rank));
  for (int d = 0; d < y.rank; ++d)
    shift[d] = pads[d];
}

void Pad::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  bool covered = x.data != nullptr;
  for (int d = 0; d < y.rank; ++d)
    covered &= x.lo[d] + shift[d] <= y.lo[d] &&
               x.lo[d] + shift[d] + x.shape[d] >= y.lo[d] + y.shape[d];
  if (!covered)
    fill_elements(y.type, y.data, y.elements(), value);
  copy_overlap(y, x, shift);
}

} // namespace ffrt
