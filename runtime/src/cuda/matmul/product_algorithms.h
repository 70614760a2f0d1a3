//===- product_algorithms.h - a product and more, fused or not --*- C++ -*-===//
//
// The library can fuse a product with what follows, by algorithms of its own
// that may be slower than a product and a kernel for the rest: the faster of
// both is taken.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_PRODUCT_ALGORITHMS_H
#define FFRT_CUDA_PRODUCT_ALGORITHMS_H

#include "cuda/matmul/gemm.h"
#include "cuda/matmul/product_shape.h"
#include "cuda/plans/plan_timer.h"
#include "cuda/plans/tuner.h"
#include "ffrt/context.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ffrt::cuda {

/// What a kernel does: the library, or a `Separate`, which is constructed with
/// the context, operands, results and attributes, and called with the tensors.
template <class Separate> class ProductAlgorithms {
public:
  /// How the library is called for these operands and results.
  using Call = void (*)(const Gemm &gemm, const Tensor *in, const Tensor *out);

  /// Chooses. No `shape`: the library is not asked.
  template <class... Attributes>
  ProductAlgorithms(const std::optional<GemmShape> &shape, Call call,
                    Context &cx, Tensors in, Tensors out,
                    Attributes... attributes)
      : call(call) {
    auto use_separate = [&] {
      separate.emplace(cx, in.begin(), out.begin(), attributes...);
    };
    if (shape && Gemm::exists(*shape)) {
      Choice choice(*this, *shape, in, out, use_separate);
      tuner().choose(Gemm::version() + "; algorithm of " + text_of(*shape),
                     choice);
    } else {
      use_separate();
    }
  }

  void operator()(const Tensor *in, const Tensor *out) {
    if (separate)
      (*separate)(in, out);
    else
      call(*fused, in, out);
  }

private:
  class Choice : public Candidates {
  public:
    Choice(ProductAlgorithms &algorithms, const GemmShape &shape, Tensors in,
           Tensors out, std::function<void()> use_separate)
        : algorithms(algorithms), shape(shape),
          use_separate(std::move(use_separate)), tensors(in, out) {}

    std::vector<std::string> names() const override {
      return {"fused", "separate"};
    }
    void take(std::size_t i) override {
      algorithms.fused.reset();
      algorithms.separate.reset();
      if (i == 0)
        algorithms.fused.emplace(shape);
      else
        use_separate();
    }
    double seconds() override {
      return tensors.seconds_of(
          [&](const Tensor *in, const Tensor *out) { algorithms(in, out); });
    }

  private:
    ProductAlgorithms &algorithms;
    const GemmShape &shape;
    const std::function<void()> use_separate;
    TimedTensors tensors;
  };

  const Call call;
  std::optional<Gemm> fused;
  std::optional<Separate> separate;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_PRODUCT_ALGORITHMS_H
