//===- conv.cu - convolution ----------------------------------------------===//
//
// A library computes what a tile's boxes stand for; around it are copies of
// parts of the images, and zeros.
//
//===----------------------------------------------------------------------===//
#include "ffrt/conv.h"

#include "common/conv/conv_problem.h"
#include "common/elementwise/cast.h"
#include "common/kernels/clamp.h"
#include "cuda/conv/conv_library.h"
#include "cuda/device/scratch.h"
#include "ffrt/copy.h"
#include "ffrt/cuda/launch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <vector>

namespace ffrt {

using cuda::ConvLibrary;
using cuda::ConvShape;
using Kind = ConvShape::Kind;

template <class T>
static void finish(const float *sums, const float *bias, const fn::Clip &clip,
                   const Tensor &y) {
  int64_t inside = 1;
  if (y.order == Order::row_major)
    for (int d = 2; d < y.rank; ++d)
      inside *= y.shape[d];
  const int64_t channels = y.shape[1];
  T *to = y.as<T>();
  cuda::for_elements(
      y.elements(), FFRT_LAMBDA(int64_t i) {
        to[i] = T(clip((sums ? sums[i] : 0.0f) +
                       (bias ? bias[i / inside % channels] : 0.0f)));
      });
}

void cuda::finish_conv(const float *sums, const float *bias,
                       const fn::Clip &clip, const Tensor &y) {
  with_float(y.type, [&](auto *type) {
    finish<std::remove_pointer_t<decltype(type)>>(sums, bias, clip, y);
  });
}

namespace {

/// Rows of zeros around an axis: what the library adds at both ends, and more
/// that a copy of the image has to have.
struct Zeros {
  int64_t both, before, after;

  /// cuDNN wants as many at both ends; more after the last window are no harm
  /// while another one does not fit.
  Zeros(const ConvProblem &problem, std::size_t d, int64_t kernel) {
    const int64_t stride = problem.strides[d], begin = problem.pads_begin[d];
    const int64_t spanned = (problem.out[d].size() - 1) * stride +
                            (kernel - 1) * problem.dilations[d] + 1;
    both = std::min(begin, spanned + stride - 1 - begin - problem.in[d].size());
    before = begin - both;
    after = std::max<int64_t>(0, problem.pads_end[d] - both);
  }
};

/// The part of an image that the library works on: the tensor itself, or a copy
/// in scratch memory.
class Part {
public:
  /// `rows[d]` of spatial dimension d of `whole`, in zeros.
  Part(const Tensor &whole, const std::array<Rows, 3> &rows,
       const std::vector<Zeros> &zeros)
      : part(whole), size(whole.shape) {
    for (int d = 2; d < whole.rank; ++d) {
      const auto i = std::size_t(d - 2);
      at[d] = rows[i].begin - whole.lo[d];
      size[d] = rows[i].size();
      all &= size[d] == whole.shape[d];
      part.shape[d] = size[d];
      if (zeros.empty())
        continue;
      inside[d] = zeros[i].before;
      part.shape[d] += zeros[i].before + zeros[i].after;
      padded |= part.shape[d] != size[d];
    }
  }

  const Tensor &form() const { return part; }
  /// What scratch memory has to hold.
  std::size_t bytes() const {
    return all && !padded ? 0
                          : std::size_t(part.elements()) * size_of(part.type);
  }
  /// Where the library writes the part.
  void *target(const Tensor &whole, void *memory) const {
    return bytes() == 0 ? whole.data : memory;
  }
  /// Where the library reads it.
  void *read(const Tensor &whole, void *memory) const {
    if (bytes() == 0)
      return whole.data;
    if (padded)
      cuda::check(cudaMemsetAsync(memory, 0, bytes(), cuda::device().stream()),
                  "cudaMemsetAsync");
    copy(in(memory), inside, whole, at, size);
    return memory;
  }
  /// After the library wrote the part: the rest of the tensor is zero.
  void write(const Tensor &whole, void *memory) const {
    if (bytes() == 0)
      return;
    if (!all)
      fill(whole, 0.0f);
    copy(whole, at, in(memory), inside, size);
  }

private:
  Tensor in(void *memory) const {
    Tensor result = part;
    result.data = memory;
    return result;
  }

  Tensor part;
  Index at, inside; ///< where the rows begin in the tensor and in the part
  Index size;
  bool all = true, padded = false;
};

/// The convolution of one tile by the library; images have rank 4 or 5.
class LocalConv {
public:
  /// Going forward, `bias` may be absent.
  LocalConv(const Context &cx, const char *kernel, Kind kind, const Tensor &x,
            const Tensor &w, const Tensor &y, const ConvAttributes &attributes,
            const Tensor &bias = {}, const fn::Clip &clip = ConvShape().clip)
      : kind(kind) {
    const ConvProblem problem(kernel, x, w, y, kind == Kind::image_gradient,
                              attributes);
    if (problem.nothing)
      return;
    std::vector<Zeros> zeros;
    ConvShape shape;
    for (int d = 0; d < problem.spatial; ++d) {
      zeros.emplace_back(problem, std::size_t(d), w.shape[d + 2]);
      shape.pads.push_back(zeros.back().both);
    }
    image.emplace(x, problem.in, zeros);
    result.emplace(y, problem.out, std::vector<Zeros>());
    shape.kind = kind;
    shape.tf32 = cx.tf32;
    shape.x = image->form();
    shape.w = w;
    shape.y = result->form();
    shape.strides = problem.strides;
    shape.dilations = problem.dilations;
    shape.bias = bias.data;
    shape.clip = clip;
    library.emplace(shape);
    result_at = cuda::aligned(image->bytes());
    library_at = result_at + cuda::aligned(result->bytes());
    cuda::device().reserve(library_at + library->scratch());
  }

  /// False where no window meets the tile's input.
  explicit operator bool() const { return bool(library); }

  void operator()(const Tensor &x, const Tensor &w, const Tensor &y,
                  const Tensor &bias = {}) const {
    char *memory = cuda::device().scratch<char>();
    void *px = kind == Kind::image_gradient ? image->target(x, memory)
                                            : image->read(x, memory);
    void *py = kind == Kind::forward ? result->target(y, memory + result_at)
                                     : result->read(y, memory + result_at);
    (*library)(px, w.data, py, bias.as<float>(), memory + library_at);
    if (kind == Kind::image_gradient)
      image->write(x, memory);
  }

private:
  Kind kind;
  std::optional<Part> image, result;
  std::optional<ConvLibrary> library;
  std::size_t result_at = 0, library_at = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

struct ConvForward::Impl {
  fn::Clip clip;
  LocalConv conv;
};

ConvForward::ConvForward(Context &cx, Tensors in, Tensors out,
                         const Reals &clamp, const Ints &dilations,
                         int64_t group, const Ints &pads, const Ints &strides) {
  const char *kernel = "conv forward";
  check_conv(kernel, {"x", "w", "b"}, in, "y", out);
  const Tensor &x = in.begin()[0], &w = in.begin()[1], &b = in.begin()[2],
               &y = out.begin()[0];
  const fn::Clip clip = clip_of(kernel, clamp);
  impl.reset(new Impl{clip, LocalConv(cx, kernel, Kind::forward, with_row(x),
                                      with_row(w), with_row(y),
                                      ConvAttributes(kernel, x, dilations,
                                                     group, pads, strides),
                                      b, clip)});
}

ConvForward::~ConvForward() = default;

void ConvForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &w = in.begin()[1], &b = in.begin()[2],
               &y = out.begin()[0];
  if (impl->conv)
    return impl->conv(with_row(x), with_row(w), with_row(y), b);
  cuda::finish_conv(nullptr, b.as<float>(), impl->clip, y);
}

//===----------------------------------------------------------------------===//
// Gradient of the input
//===----------------------------------------------------------------------===//

struct ConvBackwardData::Impl {
  LocalConv conv;
};

ConvBackwardData::ConvBackwardData(Context &cx, Tensors in, Tensors out,
                                   const Ints &dilations, int64_t group,
                                   const Ints &pads, const Ints &strides) {
  const char *kernel = "conv backward data";
  check_conv(kernel, {"dy", "w"}, in, "dx", out);
  const Tensor &dy = in.begin()[0], &w = in.begin()[1], &dx = out.begin()[0];
  impl.reset(new Impl{LocalConv(
      cx, kernel, Kind::image_gradient, with_row(dx), with_row(w), with_row(dy),
      ConvAttributes(kernel, dx, dilations, group, pads, strides))});
}

ConvBackwardData::~ConvBackwardData() = default;

void ConvBackwardData::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &w = in.begin()[1], &dx = out.begin()[0];
  if (!impl->conv)
    return fill(dx, 0.0f);
  impl->conv(with_row(dx), with_row(w), with_row(dy));
}

//===----------------------------------------------------------------------===//
// Gradient of the weights
//===----------------------------------------------------------------------===//

struct ConvBackwardWeights::Impl {
  LocalConv conv;
};

ConvBackwardWeights::ConvBackwardWeights(Context &cx, Tensors in, Tensors out,
                                         const Ints &dilations, int64_t group,
                                         const Ints &pads,
                                         const Ints &strides) {
  const char *kernel = "conv backward weights";
  check_conv(kernel, {"x", "dy"}, in, "dw", out, /*is_image=*/false);
  const Tensor &x = in.begin()[0], &dy = in.begin()[1], &dw = out.begin()[0];
  impl.reset(new Impl{
      LocalConv(cx, kernel, Kind::weight_gradient, with_row(x), with_row(dw),
                with_row(dy),
                ConvAttributes(kernel, x, dilations, group, pads, strides))});
}

ConvBackwardWeights::~ConvBackwardWeights() = default;

void ConvBackwardWeights::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &dy = in.begin()[1], &dw = out.begin()[0];
  if (!impl->conv)
    return fill(dw, 0.0f);
  impl->conv(with_row(x), with_row(dw), with_row(dy));
}

} // namespace ffrt
