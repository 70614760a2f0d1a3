//===- matmul_sums.cu - a product and the sums of a factor ----------------===//
//
// The library can do both at once, by algorithms of its own that may be slower
// than a product and a kernel for the sums: the faster way is taken.
//
//===----------------------------------------------------------------------===//
#include "common/matmul_geometry.h"
#include "common/matmul_sums.h"
#include "cuda/gemm.h"
#include "cuda/plan_timer.h"
#include "cuda/tuner.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ffrt {

using cuda::Gemm;
using cuda::GemmShape;

namespace {

/// One of two ways.
struct Way {
  std::optional<Gemm> together;
  std::optional<ProductThenSums> apart;

  void run(const Tensor &a, const Tensor &b, const Tensor &y,
           const Tensor &sums) {
    if (apart)
      return (*apart)({a, b}, {y, sums});
    (*together)(a.data, b.data, nullptr, nullptr, y.data, sums.as<float>());
  }
};

/// Of a product without batch dimensions of its own; none otherwise.
std::optional<GemmShape> shape_of(const Context &cx, Tensors in, Tensors out,
                                  double alpha, int64_t sums_of,
                                  int64_t trans_a, int64_t trans_b) {
  const Tensor &a = in.begin()[0], &b = in.begin()[1], &y = out.begin()[0];
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
  shape.alpha = float(alpha);
  shape.sums = sums_of == 0 ? GemmShape::Sums::a : GemmShape::Sums::b;
  return shape;
}

/// Chooses.
class Ways : public cuda::Candidates {
public:
  Ways(Way &way, const GemmShape &shape, Tensors in, Tensors out,
       std::function<void()> take_apart)
      : way(way), shape(shape),
        take_apart(std::move(take_apart)), tensors{in.begin()[0], in.begin()[1],
                                                   out.begin()[0],
                                                   out.begin()[1]} {}

  std::vector<std::string> names() const override {
    return {"together", "apart"};
  }
  void take(std::size_t i) override {
    way.together.reset();
    way.apart.reset();
    if (i == 0)
      way.together.emplace(shape);
    else
      take_apart();
  }
  double seconds() override {
    if (!is_placed)
      for (Tensor &tensor : tensors)
        tensor.data =
            memory.add(std::size_t(tensor.elements()) * size_of(tensor.type));
    is_placed = true;
    return cuda::seconds_of(
        [&] { way.run(tensors[0], tensors[1], tensors[2], tensors[3]); });
  }

private:
  Way &way;
  const GemmShape &shape;
  const std::function<void()> take_apart;
  /// a, b, y, sums; when they are measured, in memory of their own.
  std::array<Tensor, 4> tensors;
  bool is_placed = false;
  cuda::TimedOperands memory;
};

} // namespace

struct MatMulSums::Impl : Way {};

MatMulSums::MatMulSums(Context &cx, Tensors in, Tensors out, double alpha,
                       int64_t sums_of, int64_t trans_a, int64_t trans_b)
    : impl(std::make_unique<Impl>()) {
  check_matmul_sums(in, out, sums_of, trans_a, trans_b);
  auto take_apart = [&] {
    impl->apart.emplace(cx, in, out, alpha, sums_of, trans_a, trans_b);
  };
  const auto shape = shape_of(cx, in, out, alpha, sums_of, trans_a, trans_b);
  if (shape && Gemm::exists(*shape)) {
    Ways ways(*impl, *shape, in, out, take_apart);
    cuda::tuner().choose(Gemm::version() + "; way of " + text_of(*shape), ways);
  } else {
    take_apart();
  }
}

MatMulSums::~MatMulSums() = default;

void MatMulSums::operator()(Tensors in, Tensors out) {
  impl->run(in.begin()[0], in.begin()[1], out.begin()[0], out.begin()[1]);
}

} // namespace ffrt
