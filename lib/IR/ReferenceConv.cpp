//===- ReferenceConv.cpp - convolution in plain loops ---------------------===//

#include "ReferenceFamilies.h"

using namespace ffc;
using namespace ffc::ff;

namespace {
/// Geometry of a convolution from its attributes and global shapes.
struct Geometry {
  llvm::ArrayRef<int64_t> dilations, pads, strides;
  int64_t channelsIn, channelsOut; ///< of a group
  int64_t kernelH, kernelW;

  Geometry(const ReferenceCall &call, const plan::Shape &w)
      : dilations(call.ints("dilations")), pads(call.ints("pads")),
        strides(call.ints("strides")), channelsIn(w[1]),
        channelsOut(w[0] / call.i64("group")), kernelH(w[2]), kernelW(w[3]) {}

  /// Input position of kernel position `i` at output position `o`; may lie
  /// outside the image. `d` is 0 for rows, 1 for columns.
  int64_t input(int d, int64_t o, int64_t i) const {
    return o * strides[d] - pads[d] + i * dilations[d];
  }
  /// Output position that reads input position `p` at kernel position `i`, or
  /// -1 if there is none among `outputs`.
  int64_t output(int d, int64_t p, int64_t i, int64_t outputs) const {
    int64_t scaled = p + pads[d] - i * dilations[d];
    if (scaled < 0 || scaled % strides[d] != 0 ||
        scaled / strides[d] >= outputs)
      return -1;
    return scaled / strides[d];
  }
};
} // namespace

/// The tile of the results: all dimensions but the contracted one.
static plan::Box withoutLast(const plan::Tile &tile) {
  plan::Box results(tile.rank() - 1);
  for (int d = 0; d < results.rank(); ++d)
    results[d] = tile[d];
  return results;
}

static void conv2dForward(const ReferenceCall &call) {
  const View &x = call.ins[0], &w = call.ins[1], &b = call.ins[2];
  const View &y = call.outs[0];
  Geometry at(call, w.global());
  plan::Interval contracted = call.tile[5];
  // As in the runtime: the tiles that add the bias are those that are given it.
  bool addsBias = b.present() && !b.region().empty();
  forEachIndex(withoutLast(call.tile), [&](llvm::ArrayRef<int64_t> i) {
    int64_t n = i[0], g = i[1], oh = i[3], ow = i[4];
    int64_t out = g * at.channelsOut + i[2];
    double sum = addsBias ? b.at({out}) : 0;
    for (int64_t k = contracted.lo; k < contracted.hi; ++k)
      for (int64_t kh = 0; kh < at.kernelH; ++kh)
        for (int64_t kw = 0; kw < at.kernelW; ++kw) {
          int64_t ih = at.input(0, oh, kh), iw = at.input(1, ow, kw);
          if (ih < 0 || ih >= x.global()[2] || iw < 0 || iw >= x.global()[3])
            continue;
          sum +=
              x.at({n, g * at.channelsIn + k, ih, iw}) * w.at({out, k, kh, kw});
        }
    y.at({n, out, oh, ow}) = sum;
  });
}

static void conv2dBackwardData(const ReferenceCall &call) {
  const View &dy = call.ins[0], &w = call.ins[1], &dx = call.outs[0];
  Geometry at(call, w.global());
  plan::Interval contracted = call.tile[5];
  forEachIndex(withoutLast(call.tile), [&](llvm::ArrayRef<int64_t> i) {
    int64_t n = i[0], g = i[1], k = i[2], ih = i[3], iw = i[4];
    double sum = 0;
    for (int64_t c = contracted.lo; c < contracted.hi; ++c)
      for (int64_t kh = 0; kh < at.kernelH; ++kh)
        for (int64_t kw = 0; kw < at.kernelW; ++kw) {
          int64_t oh = at.output(0, ih, kh, dy.global()[2]);
          int64_t ow = at.output(1, iw, kw, dy.global()[3]);
          if (oh < 0 || ow < 0)
            continue;
          int64_t out = g * at.channelsOut + c;
          sum += dy.at({n, out, oh, ow}) * w.at({out, k, kh, kw});
        }
    dx.at({n, g * at.channelsIn + k, ih, iw}) = sum;
  });
}

static void conv2dBackwardWeights(const ReferenceCall &call) {
  const View &x = call.ins[0], &dy = call.ins[1], &dw = call.outs[0];
  Geometry at(call, dw.global());
  plan::Box results{call.tile[0],
                    call.tile[1],
                    call.tile[2],
                    {0, at.kernelH},
                    {0, at.kernelW}};
  plan::Box summed{call.tile[3], call.tile[4], call.tile[5]};
  forEachIndex(results, [&](llvm::ArrayRef<int64_t> i) {
    int64_t g = i[0], k = i[2], kh = i[3], kw = i[4];
    int64_t out = g * at.channelsOut + i[1];
    double sum = 0;
    forEachIndex(summed, [&](llvm::ArrayRef<int64_t> o) {
      int64_t ih = at.input(0, o[1], kh), iw = at.input(1, o[2], kw);
      if (ih < 0 || ih >= x.global()[2] || iw < 0 || iw >= x.global()[3])
        return;
      sum += x.at({o[0], g * at.channelsIn + k, ih, iw}) *
             dy.at({o[0], out, o[1], o[2]});
    });
    dw.at({out, k, kh, kw}) = sum;
  });
}

void ff::registerConvReferences() {
  registerReference("conv2d_forward", conv2dForward);
  registerReference("conv2d_backward_data", conv2dBackwardData);
  registerReference("conv2d_backward_weights", conv2dBackwardWeights);
}
