//===- conv_cudnn.cpp - convolutions by cuDNN -----------------------------===//
//
// Weights get the order of the images. What cuDNN has no engine for is tried
// again with factors as f32, then with row-major images: copies in scratch
// memory.
//
//===----------------------------------------------------------------------===//
#include "cuda/conv_library.h"

#include "common/cast.h"
#include "cuda/cudnn_graph.h"
#include "ffrt/copy.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ffrt::cuda {

namespace {

using Kind = ConvShape::Kind;

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Of a dense tensor, with or without data.
std::size_t bytes_of(const Tensor &t) {
  return std::size_t(t.shape[0] * t.strides()[0]) * size_of(t.type);
}

/// Do both orders mean the same layout?
bool is_flat(const Tensor &t) {
  int64_t space = 1;
  for (int d = 2; d < t.rank; ++d)
    space *= t.shape[d];
  return t.shape[1] == 1 || space == 1;
}

/// A tensor in the form that the library takes: itself, or copies.
class Operand {
public:
  /// Takes scratch memory from `top` on.
  Operand(const Tensor &given, DType type, Order order, std::size_t &top)
      : given(given), ordered(given), used(given) {
    if (is_flat(given))
      this->given.order = order;
    ordered.order = used.order = order;
    used.type = type;
    ordered_at = top;
    top += reorders() ? aligned(bytes_of(ordered)) : 0;
    used_at = top;
    top += widens() ? aligned(bytes_of(used)) : 0;
  }

  const Tensor &form() const { return used; }
  /// What the library works on.
  void *place(void *data, char *scratch) const {
    return widens()     ? scratch + used_at
           : reorders() ? scratch + ordered_at
                        : data;
  }
  /// Before the library reads the operand.
  void read(void *data, char *scratch) const {
    if (reorders())
      copy(in(ordered, scratch + ordered_at), {}, in(given, data), {},
           given.shape);
    if (widens())
      cast_elements(in(ordered, reorders() ? scratch + ordered_at : data),
                    in(used, scratch + used_at));
  }
  /// After the library wrote it; results are not widened.
  void write(void *data, char *scratch) const {
    if (reorders())
      copy(in(given, data), {}, in(ordered, scratch + ordered_at), {},
           given.shape);
  }

private:
  static Tensor in(Tensor form, void *data) {
    form.data = data;
    return form;
  }
  bool reorders() const { return ordered.order != given.order; }
  bool widens() const { return used.type != given.type; }

  Tensor given, ordered, used;
  std::size_t ordered_at = 0, used_at = 0;
};

/// Attributes of an operation by kind.
struct Names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, w, y;
};

Names names_of(Kind kind) {
  switch (kind) {
  case Kind::forward:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
  case Kind::image_gradient:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
  default:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
  }
}

enum : int64_t { kX, kW, kY, kSums }; ///< names of the tensors

CudnnDescriptor convolution_of(const ConvShape &s) {
  CudnnDescriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  result.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  result.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  result.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(s.strides.size()));
  result.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, s.strides);
  result.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, s.dilations);
  result.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, s.pads);
  result.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, s.pads);
  result.finalize();
  return result;
}

/// to = from.
CudnnDescriptor identity(const CudnnDescriptor &from,
                         const CudnnDescriptor &to) {
  CudnnDescriptor function(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  function.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY);
  function.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  function.finalize();
  CudnnDescriptor result(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
  result.finalize();
  return result;
}

CudnnPlan plan(const ConvShape &s, const Tensor &x, const Tensor &w,
               const Tensor &y) {
  const CudnnDescriptor convolution = convolution_of(s),
                        image = cudnn_tensor(x, kX),
                        weights = cudnn_tensor(w, kW),
                        out = cudnn_tensor(y, kY);
  const DType factors = s.kind == Kind::forward ? x.type : y.type;
  const bool forward = s.kind == Kind::forward,
             gradient = s.kind == Kind::image_gradient;
  const CudnnDescriptor &result = forward ? out : gradient ? image : weights;
  // Factors of bf16 have a result of bf16, unless an operation follows.
  std::optional<CudnnDescriptor> sums;
  if (factors == DType::bf16)
    sums.emplace(cudnn_tensor(forward ? y : gradient ? x : w, kSums, true));
  auto operand = [&](const CudnnDescriptor &tensor) -> const CudnnDescriptor & {
    return sums && &tensor == &result ? *sums : tensor;
  };
  const Names names = names_of(s.kind);
  std::vector<CudnnDescriptor> operations;
  CudnnDescriptor &operation = operations.emplace_back(names.operation);
  operation.set(names.alpha, 1.0f);
  operation.set(names.beta, 0.0f);
  operation.set(names.convolution, convolution);
  operation.set(names.x, operand(image));
  operation.set(names.w, operand(weights));
  operation.set(names.y, operand(out));
  operation.finalize();
  if (sums)
    operations.push_back(identity(*sums, result));
  return CudnnPlan(operations, factors == DType::bf16 ? CudnnFactors::bf16
                               : s.tf32               ? CudnnFactors::tf32
                                                      : CudnnFactors::f32);
}

} // namespace

struct ConvLibrary::Impl {
  Kind kind;
  struct Form {
    std::size_t workspace_at = 0; ///< beside copies
    Operand x, w, y;
    CudnnPlan plan;

    Form(const ConvShape &s, DType factors, Order order)
        : x(s.x, s.kind == Kind::image_gradient ? DType::f32 : factors, order,
            workspace_at),
          w(s.w, s.kind == Kind::weight_gradient ? DType::f32 : factors, order,
            workspace_at),
          y(s.y, s.kind == Kind::forward ? DType::f32 : factors, order,
            workspace_at),
          plan(cuda::plan(s, x.form(), w.form(), y.form())) {}
  };
  std::optional<Form> form;

  explicit Impl(const ConvShape &s) : kind(s.kind) {
    const DType factors = s.kind == Kind::forward ? s.x.type : s.y.type;
    std::string cause;
    for (const auto &[type, order] :
         {std::pair(factors, s.y.order), std::pair(DType::f32, s.y.order),
          std::pair(DType::f32, Order::row_major)}) {
      try {
        form.emplace(s, type, order);
        return;
      } catch (const Error &error) {
        cause = error.what();
      }
    }
    throw Error("conv: expected an engine of cuDNN, found none (" + cause +
                ")");
  }
};

ConvLibrary::ConvLibrary(const ConvShape &shape)
    : impl(std::make_unique<Impl>(shape)) {}
ConvLibrary::~ConvLibrary() = default;
ConvLibrary::ConvLibrary(ConvLibrary &&) noexcept = default;

std::size_t ConvLibrary::scratch() const {
  return impl->form->workspace_at + impl->form->plan.workspace();
}

void ConvLibrary::operator()(void *x, void *w, void *y, void *scratch) const {
  const Kind kind = impl->kind;
  Impl::Form &form = *impl->form;
  char *memory = static_cast<char *>(scratch);
  if (kind != Kind::image_gradient)
    form.x.read(x, memory);
  if (kind != Kind::weight_gradient)
    form.w.read(w, memory);
  if (kind != Kind::forward)
    form.y.read(y, memory);
  form.plan({form.x.place(x, memory), form.w.place(w, memory),
             form.y.place(y, memory)},
            memory + form.workspace_at);
  switch (kind) {
  case Kind::forward:
    return form.y.write(y, memory);
  case Kind::image_gradient:
    return form.x.write(x, memory);
  case Kind::weight_gradient:
    return form.w.write(w, memory);
  }
}

} // namespace ffrt::cuda
