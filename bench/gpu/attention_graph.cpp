//===- attention_graph.cpp - attention as operations of cuDNN -------------===//
//
// Engines recognise a graph as a whole: which operations there are, and in
// which order, is not free.
//
//===----------------------------------------------------------------------===//
#include "attention_graph.h"

#include <utility>

using namespace ffrt;
using namespace ffrt::cuda;

namespace {

using Mask = AttentionShape::Mask;
namespace at = attention_tensor;

/// Adds operations to a graph.
class Builder {
public:
  using Value = const CudnnDescriptor &;

  explicit Builder(const AttentionShape &shape) : s(shape) {}

  /// A tensor of ours, [N, T, H, D], as [N, H, T, D].
  Value heads(int64_t id, DType type) {
    return keep(cudnn_type(type), by_row(), row_strides(), id);
  }
  /// The same as [N, H, D, T].
  Value transposed_heads(int64_t id) {
    return keep(cudnn_type(s.factors), by_column(), column_strides(), id);
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

  /// Scores as factors with rows and positions exchanged.
  Value transpose_scores(Value scores) {
    const int64_t size = s.positions * s.positions;
    return reshape(scores, between(cudnn_type(s.factors), by_score(),
                                   {s.heads * size, size, 1, s.positions}));
  }
  Value transpose_keys(Value keys) {
    return reshape(keys,
                   between(cudnn_type(s.factors), by_row(), row_strides()));
  }

  Value mask_added(Value scores) {
    if (s.mask != Mask::added)
      return scores;
    Value mask = keep(CUDNN_DATA_FLOAT, {s.samples, 1, 1, s.positions},
                      {s.positions, s.positions, s.positions, 1}, at::mask);
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
    return between(CUDNN_DATA_FLOAT, by_row(), row_strides());
  }
  Value between_factors() { return between(cudnn_type(s.factors), by_score()); }

  CudnnGraph take() { return std::move(graph); }

private:
  static Ints dense(const Ints &shape) {
    Ints strides(shape.size(), 1);
    for (std::size_t d = shape.size() - 1; d > 0; --d)
      strides[d - 1] = strides[d] * shape[d];
    return strides;
  }
  Ints by_row() const { return {s.samples, s.heads, s.positions, s.width}; }
  Ints row_strides() const {
    return {s.positions * s.heads * s.width, s.width, s.heads * s.width, 1};
  }
  Ints by_column() const { return {s.samples, s.heads, s.width, s.positions}; }
  Ints column_strides() const {
    return {s.positions * s.heads * s.width, s.width, 1, s.heads * s.width};
  }
  Ints by_sum() const { return {s.samples, s.heads, s.positions, 1}; }
  Ints by_score() const {
    return {s.samples, s.heads, s.positions, s.positions};
  }

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

} // namespace

std::string text_of(const AttentionShape &s) {
  auto name = [](DType type) {
    return type == DType::bf16 ? "bf16" : type == DType::f16 ? "fp16" : "f32";
  };
  return std::string(s.model) + ": " + std::to_string(s.samples) + " x " +
         std::to_string(s.positions) + "x" + std::to_string(s.heads) + "x" +
         std::to_string(s.width) +
         (s.mask == Mask::causal  ? " causal"
          : s.mask == Mask::added ? " masked"
                                  : "") +
         ", " + name(s.factors) + " to " + name(s.results);
}

std::vector<AttentionShape> attention_shapes() {
  std::vector<AttentionShape> shapes;
  for (DType factors : {DType::bf16, DType::f16})
    for (DType results : {DType::f32, factors}) {
      auto add = [&](const char *model, int64_t samples, int64_t positions,
                     int64_t heads, int64_t width, Mask mask) {
        shapes.push_back(
            {model, samples, positions, heads, width, mask, factors, results});
      };
      add("gpt2", 8, 1024, 12, 64, Mask::causal);
      // In both types most things are alike.
      if (factors == DType::f16)
        continue;
      add("bert_base", 32, 128, 12, 64, Mask::added);
      add("vit", 64, 197, 12, 64, Mask::none);
      add("wide heads", 2, 4096, 16, 128, Mask::causal);
    }
  return shapes;
}

CudnnGraph attention_forward_graph(const AttentionShape &shape) {
  Builder b(shape);
  using Value = Builder::Value;
  Value q = b.heads(at::q, shape.factors), k = b.transposed_heads(at::k),
        v = b.heads(at::v, shape.factors), y = b.heads(at::y, shape.results),
        lse = b.sums(at::lse);
  Value scaled =
      b.apply(CUDNN_POINTWISE_MUL, b.multiply(q, k), &b.number(at::scale));
  Value scores = b.mask_later(b.mask_added(scaled));
  Value most = b.reduce(CUDNN_REDUCE_TENSOR_MAX, scores);
  Value e = b.apply(CUDNN_POINTWISE_EXP,
                    b.apply(CUDNN_POINTWISE_SUB, scores, &most), nullptr);
  Value total = b.reduce(CUDNN_REDUCE_TENSOR_ADD, e);
  Value log = b.apply(CUDNN_POINTWISE_LOG, total, nullptr, b.between_sums());
  b.apply(CUDNN_POINTWISE_ADD, most, &log, lse);
  b.multiply(b.apply(CUDNN_POINTWISE_DIV, e, &total, b.between_factors()), v,
             y);
  return b.take();
}

CudnnGraph attention_backward_graph(const AttentionShape &shape) {
  Builder b(shape);
  using Value = Builder::Value;
  Value q = b.heads(at::q, shape.factors), k = b.transposed_heads(at::k),
        v = b.transposed_heads(at::v), y = b.heads(at::y, shape.results),
        dy = b.heads(at::dy, shape.factors), lse = b.sums(at::lse),
        dq = b.heads(at::dq, shape.results),
        dk = b.heads(at::dk, shape.results),
        dv = b.heads(at::dv, shape.results), scale = b.number(at::scale);
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
  Value ds = b.apply(CUDNN_POINTWISE_MUL, slope, &scale, b.between_factors());
  b.multiply(b.transpose_scores(ds), q, dk);
  b.multiply(ds, b.transpose_keys(k), dq);
  return b.take();
}
