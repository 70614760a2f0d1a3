//===- context.h - what every kernel of a rank may read ---------*- C++ -*-===//
#ifndef FFRT_CONTEXT_H
#define FFRT_CONTEXT_H

#include <cstdint>
#include <limits>
#include <unordered_map>

namespace ffrt {

/// What a parameter is updated with.
struct UpdateRates {
  double share = 1; ///< of the learning rate
  double weight_decay = 0;
};

/// State shared by all kernels of one rank. Kernels keep a reference and read
/// it when they run, so values may change between steps.
struct Context {
  int rank = 0;
  int ranks = 1;
  uint64_t seed = 0;
  int64_t step = 0;        ///< steps done before the current one
  int64_t micro_batch = 0; ///< how many came before the current one
  int micro_batches = 1;   ///< of a step
  double learning_rate = 0.01;
  double weight_decay = 0.0;
  /// What no element of a gradient is over, nor below minus that.
  double clip_value = std::numeric_limits<double>::infinity();
  /// Where parameters have rates of their own (--group), those of all that this
  /// rank updates, by where their values are.
  std::unordered_map<const void *, UpdateRates> own_rates;
  int threads = 1; ///< OpenMP threads of this rank
  /// Products may round f32 operands to TF32, where the target has it.
  bool tf32 = false;

  /// Of the parameter with its values there. Throws an internal Error where
  /// parameters have rates of their own, but not this one.
  UpdateRates rates_of(const void *parameter) const;
};

} // namespace ffrt

#endif // FFRT_CONTEXT_H
