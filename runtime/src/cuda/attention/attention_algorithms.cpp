//===- attention_algorithms.cpp - attention by us or by a library ---------===//
#include "cuda/attention/attention_algorithms.h"

#include "cuda/plans/plan_timer.h"
#include "cuda/plans/tuner.h"
#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <cmath>
#include <vector>

namespace ffrt::cuda {

using Mask = AttentionShape::Mask;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Which kind of mask a library is asked for; none if it is of another.
static std::optional<Mask> mask_of(const AttentionGeometry &g, const Tensor &q,
                                   const Tensor &k, const Tensor &mask) {
  if (!mask.data)
    return Mask::none;
  // Parts of the square have other diagonals.
  if (g.causal && g.rows == q.global[1] && g.keys == k.global[1])
    return Mask::causal;
  if (!g.replaces)
    return Mask::added;
  return std::nullopt;
}

std::optional<AttentionShape> library_shape(const AttentionGeometry &g,
                                            bool backward, Tensors in,
                                            Tensors out) {
  const Tensor *t = in.begin(), *r = out.begin();
  const auto mask = mask_of(g, t[0], t[1], t[backward ? 6 : 3]);
  if (g.operand_type == DType::f32 || g.ratio != 0.0f || !mask)
    return std::nullopt;
  AttentionShape s;
  s.backward = backward;
  s.samples = g.samples;
  s.heads = g.heads;
  s.rows = g.rows;
  s.keys = g.keys;
  s.width = g.width;
  s.values = g.values;
  s.operand_type = g.operand_type;
  s.y = backward ? t[3].type : r[0].type;
  s.mask = *mask;
  s.scale = g.scale;
  const int64_t scores[] = {s.samples, s.heads, s.rows, s.keys};
  for (std::size_t d = 0; d < 4; ++d)
    if (s.mask == Mask::added && g.mask_strides[int(d)] != 0)
      s.added[d] = scores[d];
  for (std::size_t i = 0; backward && i < s.gradients.size(); ++i) {
    if (!r[i].data)
      return std::nullopt;
    s.gradients[i] = r[i].type;
  }
  return s;
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

/// Our kernels, then what the library proposes.
class AttentionAlgorithms::Choice : public Candidates {
public:
  Choice(AttentionAlgorithms &algorithms, const AttentionShape &shape,
         Tensors in, Tensors out)
      : algorithms(algorithms), shape(shape), library(shape), tensors(in, out) {
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> all = library.algorithms();
    all.insert(all.begin(), "own kernels");
    return all;
  }
  void take(std::size_t i) override {
    uses_library = i > 0;
    if (uses_library)
      library.take(i - 1);
  }
  double seconds() override {
    tensors.place();
    if (shape.mask == Mask::causal)
      hide_later();
    if (!uses_library)
      return tensors.seconds_of(algorithms.ours);
    TimedOperands more;
    char *const scratch = static_cast<char *>(more.add(library.scratch()));
    return tensors.seconds_of([&](const Tensor *in, const Tensor *out) {
      library(in, out, scratch);
    });
  }

  bool takes_library() const { return uses_library; }
  AttentionLibrary &&taken() { return std::move(library); }

private:
  /// In a mask, of which our kernels leave out what hides everything.
  void hide_later() {
    const Tensor &mask = tensors.in()[shape.backward ? 6 : 3];
    std::vector<float> values(std::size_t(mask.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = int64_t(i) / shape.keys % shape.rows;
      values[i] = int64_t(i) % shape.keys > row ? -HUGE_VALF : 0.0f;
    }
    check(cudaMemcpyAsync(mask.data, values.data(),
                          values.size() * sizeof(float), cudaMemcpyHostToDevice,
                          device().stream()),
          "cudaMemcpyAsync");
  }

  AttentionAlgorithms &algorithms;
  const AttentionShape &shape;
  AttentionLibrary library;
  bool uses_library = false;
  TimedTensors tensors;
};

AttentionAlgorithms::AttentionAlgorithms(
    const std::optional<AttentionShape> &shape, Ours ours, Tensors in,
    Tensors out)
    : ours(std::move(ours)) {
  if (!shape)
    return;
  std::optional<Choice> choice;
  try {
    choice.emplace(*this, *shape, in, out);
  } catch (const Error &) {
    return; // The library has no algorithm at all.
  }
  tuner().choose(AttentionLibrary::version() + "; algorithm of " +
                     text_of(*shape),
                 *choice);
  if (!choice->takes_library())
    return;
  library.emplace(choice->taken());
  // Without what was measured with.
  choice.reset();
  device().reserve(library->scratch());
}

void AttentionAlgorithms::operator()(const Tensor *in,
                                     const Tensor *out) const {
  if (library)
    (*library)(in, out, device().scratch<char>());
  else
    ours(in, out);
}

} // namespace ffrt::cuda
