//===- attention_library.h - attention in a library -------------*- C++ -*-===//
//
// The only place that knows cuDNN's attention (attention_cudnn.cpp). Tests on a
// machine without a GPU link plain loops in its place (emulated_attention.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ATTENTION_LIBRARY_H
#define FFRT_CUDA_ATTENTION_LIBRARY_H

#include "ffrt/kernel.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ffrt::cuda {

/// Attention of a tile without dropout, or its gradient, as ffrt/attention.h
/// has it, from operands of bf16 or f16.
struct AttentionShape {
  /// Later positions are hidden, or numbers of f32 are added to the scores.
  enum class Mask { none, causal, added };

  bool backward = false;
  int64_t samples, heads, rows, keys;
  int64_t width;  ///< of queries and keys
  int64_t values; ///< width of values
  DType operand_type;
  DType y = DType::f32;
  std::array<DType, 3> gradients = {}; ///< dq, dk and dv
  Mask mask = Mask::none;
  /// Of what is added, along samples, heads, rows and keys; 1 where it is
  /// broadcast.
  std::array<int64_t, 4> added = {1, 1, 1, 1};
  float scale = 1;
};

/// The same as words that name a problem.
std::string text_of(const AttentionShape &shape);

/// The algorithms of a library for a shape, of which one is taken. All give
/// the same bits in every run.
class AttentionLibrary {
public:
  /// Throws Error when there is none.
  explicit AttentionLibrary(const AttentionShape &shape);
  ~AttentionLibrary();
  AttentionLibrary(AttentionLibrary &&) noexcept;

  /// The library and its version, which algorithms depend on.
  static std::string version();

  /// Names of the algorithms, best guess first.
  std::vector<std::string> algorithms() const;
  /// Throws Error when it does not work.
  void take(std::size_t algorithm);

  /// Bytes of scratch memory that a call takes.
  std::size_t scratch() const;
  /// {q, k, v, mask} -> {y, lse}, or {q, k, v, y, lse, dy, mask} -> {dq, dk,
  /// dv}, none of which may be absent. `scratch` is aligned as memory of the
  /// device is.
  void operator()(const Tensor *in, const Tensor *out, char *scratch) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_ATTENTION_LIBRARY_H
