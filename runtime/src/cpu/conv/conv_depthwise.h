//===- conv_depthwise.h - gradients of depthwise convolutions ---*- C++ -*-===//
//
// For depthwise convolutions of channels-last images (every group has one
// channel in and one out), the gradients that oneDNN 2.6 has no kernel for:
// those of dilated ones, and of weights that are not three columns wide. It
// falls back to one small product per group, about seven times slower.
//
// Vectors run along channels. The image that is read goes, a chunk of channels
// at a time, through a few rows of scratch padded with columns of zeros. They
// stay in the first-level cache while all windows read them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_CONV_DEPTHWISE_H
#define FFRT_CPU_CONV_DEPTHWISE_H

#include "cpu/conv/depthwise_plan.h"

namespace ffrt {

class Depthwise {
public:
  enum Gradient { data, weights };

  /// Is the local problem a depthwise convolution that oneDNN's implementation
  /// `name` is not made for?
  static bool fits(const ConvProblem &problem, const Tensor &x, const Tensor &w,
                   const Tensor &y, const char *name);

  /// The tensors of the forward operator, of rank 4.
  Depthwise(Gradient gradient, const Tensor &x, const Tensor &w,
            const Tensor &y, const ConvAttributes &attributes);

  void data_gradient(const Tensor &dy, const Tensor &w, const Tensor &dx);
  void weight_gradient(const Tensor &x, const Tensor &dy, const Tensor &dw);

private:
  /// Floats that begin a cache line.
  class Lines {
  public:
    void resize(int64_t floats) { lines.resize(std::size_t(floats + 15) / 16); }
    float *data() { return lines.data()->floats; }
    const float *data() const { return lines.data()->floats; }

  private:
    struct alignas(64) Line {
      float floats[16];
    };
    std::vector<Line> lines;
  };
  /// What one thread works with.
  struct Scratch {
    Lines rows;                      ///< padded rows of a chunk
    Lines sums;                      ///< of the weight gradient
    std::vector<int64_t> held;       ///< which rows they are
    std::vector<const float *> seen; ///< rows that one result row sees
  };

  /// The padded rows that result row `row` sees.
  const float *const *see(Scratch &scratch, const float *image,
                          const Index &strides, int64_t row, int64_t columns,
                          int64_t count) const;
  void data_chunk(Scratch &scratch, const Tensor &dy, const Tensor &dx,
                  int64_t n, int64_t chunk) const;
  void weight_chunk(Scratch &scratch, const Tensor &x, const Tensor &dy,
                    float *dw, int64_t chunk) const;

  DepthwisePlan plan;
  int64_t chunk_size; ///< channels
  /// Weights by kernel position, then channel.
  Lines packed;
  std::vector<Scratch> scratch; ///< per thread
};

} // namespace ffrt

#endif // FFRT_CPU_CONV_DEPTHWISE_H
