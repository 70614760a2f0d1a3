//===- attention_algorithms.h - attention by us or by a library -*- C++ -*-===//
//
// A library computes attention of bf16 or f16 without dropout, in some
// shapes faster than our kernels, which do all of them: the faster of both is
// taken.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ATTENTION_ALGORITHMS_H
#define FFRT_CUDA_ATTENTION_ALGORITHMS_H

#include "common/attention/attention_geometry.h"
#include "cuda/attention/attention_library.h"

#include <functional>
#include <optional>

namespace ffrt::cuda {

/// What the library would be asked for; none where it is not. Operands and
/// results are those of AttentionForward or, `backward`, of AttentionBackward,
/// and fit.
std::optional<AttentionShape> library_shape(const AttentionGeometry &geometry,
                                            bool backward, Tensors in,
                                            Tensors out);

class AttentionAlgorithms {
public:
  /// Our kernels on operands and results. They have reserved scratch memory.
  using Ours = std::function<void(const Tensor *in, const Tensor *out)>;

  /// Chooses (cuda/plans/tuner.h); without measuring, our kernels.
  AttentionAlgorithms(const std::optional<AttentionShape> &shape, Ours ours,
                      Tensors in, Tensors out);

  void operator()(const Tensor *in, const Tensor *out) const;

private:
  class Choice;

  Ours ours;
  std::optional<AttentionLibrary> library; ///< in place of our kernels
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_ATTENTION_ALGORITHMS_H
