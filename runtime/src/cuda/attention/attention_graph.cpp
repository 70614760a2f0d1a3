//===- attention_graph.cpp - attention as operations of cuDNN -------------===//
//
// Engines recognise a graph as a whole: which operations there are, and in
// which order, is not free.
//
//===----------------------------------------------------------------------===//
#include "cuda/attention/attention_graph.h"

#include <utility>

namespace ffrt::cuda {

namespace {

using Mask = AttentionShape::Mask;
namespace at = attention_tensor;

/// Adds operations to a graph.
class Builder {
public:
  using Value = const CudnnDescriptor &;

  explicit Builder(const AttentionShape &shape) : s(shape) {}

  /// A tensor of ours, [N, P, H, W], as [N, H, P, W].
  Value heads(int64_t id, DType type, int64_t positions, int64_t width) {
    return keep(cudnn_type(type), by_row(positions, width),
                row_strides(positions, width), id);
  }
  /// The same as [N, H, W, P].
  Value transposed_heads(int64_t id, int64_t positions, int64_t width) {
    return keep(cudnn_type(s.operand_type),
                {s.samples, s.heads, width, positions},
                {positions * s.heads * width, width, 1, s.heads * width}, id);
  }
  /// [N, H, T, 1]
  Value sums(int64_t id) {
    return keep(CUDNN_DATA_FLOAT, by_sum(), dense(by_sum()), id);
  }
  Value number(int64_t id) {
    return graph.keep(cudnn_tensor(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1},
                                   id, CudnnPlace::host));
  }

  Value multiply(Value a, Value b) {
    return multiply(a, b, between(CUDNN_DATA_FLOAT, by_score()));
  }
  Value multiply(Value a, Value b, Value to) {
    CudnnDescriptor product(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
    product.finalize();
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, to);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC,
                  graph.keep(std::move(product)));
    return add(std::move(operation), to);
  }

  /// A function of scores, and of something that broadcasts to them.
  Value apply(cudnnPointwiseMode_t mode, Value a, const CudnnDescriptor *b) {
    return apply(mode, a, b, between(CUDNN_DATA_FLOAT, by_score()));
  }
  Value apply(cudnnPointwiseMode_t mode, Value a, const CudnnDescriptor *b,
              Value to, const CudnnDescriptor *where = nullptr,
              cudnnDataType_t computed = CUDNN_DATA_FLOAT, int64_t axis = -1) {
    CudnnDescriptor function(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    function.set(CUDNN_ATTR_POINTWISE_MODE, mode);
    function.set(CUDNN_ATTR_POINTWISE_MATH_PREC, computed);
    if (axis >= 0)
      function.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    function.finalize();
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                  graph.keep(std::move(function)));
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, a);
    if (b)
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    if (where)
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *where);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    return add(std::move(operation), to);
  }

  /// Along the last dimension.
  Value reduce(cudnnReduceTensorOp_t kind, Value a) {
    CudnnDescriptor reduction(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, kind);
    reduction.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    reduction.finalize();
    Value to = between_sums();
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC,
                  graph.keep(std::move(reduction)));
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, a);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to);
    return add(std::move(operation), to);
  }

  /// Scores as operands with rows and positions exchanged.
  Value transpose_scores(Value scores) {
    const int64_t size = s.rows * s.keys;
    return reshape(scores, between(cudnn_type(s.operand_type),
                                   {s.samples, s.heads, s.keys, s.rows},
                                   {s.heads * size, size, 1, s.keys}));
  }
  Value transpose_keys(Value keys) {
    return reshape(keys,
                   between(cudnn_type(s.operand_type), by_row(s.keys, s.width),
                           row_strides(s.keys, s.width)));
  }

  Value mask_added(Value scores) {
    if (s.mask != Mask::added)
      return scores;
    const Ints shape(s.added.begin(), s.added.end());
    Value mask = keep(CUDNN_DATA_FLOAT, shape, dense(shape), at::mask);
    return apply(CUDNN_POINTWISE_ADD, scores, &mask);
  }
  Value mask_later(Value scores) {
    if (s.mask != Mask::causal)
      return scores;
    auto place = [&](int64_t axis) -> Value {
      return apply(CUDNN_POINTWISE_GEN_INDEX, scores, nullptr,
                   between(CUDNN_DATA_INT32, by_score()), nullptr,
                   CUDNN_DATA_INT32, axis);
    };
    Value row = place(2), column = place(3);
    Value seen = apply(CUDNN_POINTWISE_CMP_GE, row, &column,
                       between(CUDNN_DATA_BOOLEAN, by_score()), nullptr,
                       CUDNN_DATA_BOOLEAN);
    return apply(CUDNN_POINTWISE_BINARY_SELECT, scores, &number(at::hidden),
                 between(CUDNN_DATA_FLOAT, by_score()), &seen);
  }

  Value between_sums() { return between(CUDNN_DATA_FLOAT, by_sum()); }
  Value between_heads() {
    return between(CUDNN_DATA_FLOAT, by_row(s.rows, s.values),
                   row_strides(s.rows, s.values));
  }
  Value between_operands() {
    return between(cudnn_type(s.operand_type), by_score());
  }

  CudnnGraph take() { return std::move(graph); }

private:
  static Ints dense(const Ints &shape) {
    Ints strides(shape.size(), 1);
    for (std::size_t d = shape.size() - 1; d > 0; --d)
      strides[d - 1] = strides[d] * shape[d];
    return strides;
  }
  Ints by_row(int64_t positions, int64_t width) const {
    return {s.samples, s.heads, positions, width};
  }
  Ints row_strides(int64_t positions, int64_t width) const {
    return {positions * s.heads * width, width, s.heads * width, 1};
  }
  Ints by_sum() const { return {s.samples, s.heads, s.rows, 1}; }
  Ints by_score() const { return {s.samples, s.heads, s.rows, s.keys}; }

  Value keep(cudnnDataType_t type, const Ints &shape, const Ints &strides,
             int64_t id) {
    return graph.keep(
        cudnn_tensor(type, shape, strides, id, CudnnPlace::device));
  }
  Value between(cudnnDataType_t type, const Ints &shape) {
    return between(type, shape, dense(shape));
  }
  Value between(cudnnDataType_t type, const Ints &shape, const Ints &strides) {
    return graph.keep(
        cudnn_tensor(type, shape, strides, next++, CudnnPlace::between));
  }
  Value reshape(Value from, Value to) {
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, from);
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to);
    return add(std::move(operation), to);
  }
  Value add(CudnnDescriptor &&operation, Value to) {
    operation.finalize();
    graph.add(std::move(operation));
    return to;
  }

  const AttentionShape s;
  CudnnGraph graph;
  int64_t next = 100; ///< number of what is between operations
};

CudnnGraph forward_graph(const AttentionShape &s) {
  Builder b(s);
  using Value = Builder::Value;
  Value q = b.heads(at::q, s.operand_type, s.rows, s.width),
        k = b.transposed_heads(at::k, s.keys, s.width),
        v = b.heads(at::v, s.operand_type, s.keys, s.values),
        y = b.heads(at::y, s.y, s.rows, s.values), lse = b.sums(at::lse);
  Value scaled =
      b.apply(CUDNN_POINTWISE_MUL, b.multiply(q, k), &b.number(at::scale));
  Value scores = b.mask_later(b.mask_added(scaled));
  Value most = b.reduce(CUDNN_REDUCE_TENSOR_MAX, scores);
  Value e = b.apply(CUDNN_POINTWISE_EXP,
                    b.apply(CUDNN_POINTWISE_SUB, scores, &most), nullptr);
  Value total = b.reduce(CUDNN_REDUCE_TENSOR_ADD, e);
  Value log = b.apply(CUDNN_POINTWISE_LOG, total, nullptr, b.between_sums());
  b.apply(CUDNN_POINTWISE_ADD, most, &log, lse);
  b.multiply(b.apply(CUDNN_POINTWISE_DIV, e, &total, b.between_operands()), v,
             y);
  return b.take();
}

CudnnGraph backward_graph(const AttentionShape &s) {
  Builder b(s);
  using Value = Builder::Value;
  const auto &[dq_type, dk_type, dv_type] = s.gradients;
  Value q = b.heads(at::q, s.operand_type, s.rows, s.width),
        k = b.transposed_heads(at::k, s.keys, s.width),
        v = b.transposed_heads(at::v, s.keys, s.values),
        y = b.heads(at::y, s.y, s.rows, s.values),
        dy = b.heads(at::dy, s.operand_type, s.rows, s.values),
        lse = b.sums(at::lse), dq = b.heads(at::dq, dq_type, s.rows, s.width),
        dk = b.heads(at::dk, dk_type, s.keys, s.width),
        dv = b.heads(at::dv, dv_type, s.keys, s.values),
        scale = b.number(at::scale);
  Value product =
      b.apply(CUDNN_POINTWISE_MUL,
              b.reduce(CUDNN_REDUCE_TENSOR_ADD,
                       b.apply(CUDNN_POINTWISE_MUL, dy, &y, b.between_heads())),
              &b.number(at::one), b.sums(at::product));

  Value scaled = b.apply(CUDNN_POINTWISE_MUL, b.multiply(q, k), &scale);
  Value p = b.apply(
      CUDNN_POINTWISE_EXP,
      b.mask_later(b.apply(CUDNN_POINTWISE_SUB, b.mask_added(scaled), &lse)),
      nullptr);
  b.multiply(b.transpose_scores(p), dy, dv);

  Value slope =
      b.apply(CUDNN_POINTWISE_MUL,
              b.apply(CUDNN_POINTWISE_SUB, b.multiply(dy, v), &product), &p);
  Value ds = b.apply(CUDNN_POINTWISE_MUL, slope, &scale, b.between_operands());
  b.multiply(b.transpose_scores(ds), q, dk);
  b.multiply(ds, b.transpose_keys(k), dq);
  return b.take();
}

} // namespace

CudnnGraph attention_graph(const AttentionShape &s) {
  return s.backward ? backward_graph(s) : forward_graph(s);
}

} // namespace ffrt::cuda
