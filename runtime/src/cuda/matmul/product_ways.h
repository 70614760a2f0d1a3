//===- product_ways.h - a product and more, at once or apart ----*- C++ -*-===//
//
// The library can do more than a product at once, by algorithms of its own that
// may be slower than a product and a kernel for the rest: the faster way is
// taken.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_PRODUCT_WAYS_H
#define FFRT_CUDA_PRODUCT_WAYS_H

#include "common/matmul/matmul_geometry.h"
#include "cuda/matmul/gemm.h"
#include "cuda/plans/plan_timer.h"
#include "cuda/plans/tuner.h"
#include "ffrt/context.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ffrt::cuda {

/// op(a) op(b) as one product; none if y has batch dimensions of its own.
inline std::optional<GemmShape> product_shape(const Context &cx,
                                              const Tensor &a, const Tensor &b,
                                              const Tensor &y, int64_t trans_a,
                                              int64_t trans_b) {
  const MatMulGeometry g(a, b, y, trans_a != 0, trans_b != 0);
  if (!g.batch.empty())
    return std::nullopt;
  GemmShape shape;
  shape.factors = a.type;
  shape.tf32 = cx.tf32 && a.type == DType::f32;
  shape.m = g.m;
  shape.n = g.n;
  shape.k = g.k;
  shape.trans_a = g.trans_a;
  shape.trans_b = g.trans_b;
  return shape;
}

/// What a kernel does: the library, or an `Apart`, which is constructed with
/// the context, operands, results and attributes, and called with the tensors.
template <class Apart> class ProductWays {
public:
  /// How the library is called for these operands and results.
  using Call = void (*)(const Gemm &gemm, const Tensor *in, const Tensor *out);

  /// Chooses. No `shape`: the library is not asked.
  template <class... Attributes>
  ProductWays(const std::optional<GemmShape> &shape, Call call, Context &cx,
              Tensors in, Tensors out, Attributes... attributes)
      : call(call) {
    auto take_apart = [&] {
      apart.emplace(cx, in.begin(), out.begin(), attributes...);
    };
    if (shape && Gemm::exists(*shape)) {
      Choice choice(*this, *shape, in, out, take_apart);
      tuner().choose(Gemm::version() + "; way of " + text_of(*shape), choice);
    } else {
      take_apart();
    }
  }

  void operator()(const Tensor *in, const Tensor *out) {
    if (apart)
      (*apart)(in, out);
    else
      call(*together, in, out);
  }

private:
  class Choice : public Candidates {
  public:
    Choice(ProductWays &ways, const GemmShape &shape, Tensors in, Tensors out,
           std::function<void()> take_apart)
        : ways(ways), shape(shape), take_apart(std::move(take_apart)),
          tensors(in, out) {}

    std::vector<std::string> names() const override {
      return {"together", "apart"};
    }
    void take(std::size_t i) override {
      ways.together.reset();
      ways.apart.reset();
      if (i == 0)
        ways.together.emplace(shape);
      else
        take_apart();
    }
    double seconds() override {
      return tensors.seconds_of(
          [&](const Tensor *in, const Tensor *out) { ways(in, out); });
    }

  private:
    ProductWays &ways;
    const GemmShape &shape;
    const std::function<void()> take_apart;
    TimedTensors tensors;
  };

  const Call call;
  std::optional<Gemm> together;
  std::optional<Apart> apart;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_PRODUCT_WAYS_H
