//===- ReferenceConv.cpp - convolution in plain loops ---------------------===//

#include "ReferenceFamilies.h"

using namespace ffc;
using namespace ffc::ff;

namespace {
/// An index into a tensor.
using Index = llvm::SmallVector<int64_t, 5>;

/// Geometry of a convolution from its attributes and global shapes.
struct Geometry {
  llvm::ArrayRef<int64_t> dilations, pads, strides;
  int64_t channelsIn, channelsOut; ///< of a group
  llvm::SmallVector<int64_t, 3> kernel;

  Geometry(const ReferenceCall &call, const plan::Shape &w)
      : dilations(call.ints("dilations")), pads(call.ints("pads")),
        strides(call.ints("strides")), channelsIn(w[1]),
        channelsOut(w[0] / call.i64("group")), kernel(w.begin() + 2, w.end()) {}

  int spatial() const { return static_cast<int>(kernel.size()); }

  /// `first` and the kernel positions.
  plan::Box withKernel(std::initializer_list<plan::Interval> first) const {
    plan::Box box(static_cast<int>(first.size()) + spatial());
    int d = 0;
    for (plan::Interval interval : first)
      box[d++] = interval;
    for (int64_t extent : kernel)
      box[d++] = {0, extent};
    return box;
  }

  /// The input position of kernel position `i` at output position `o`, into
  /// the spatial part of `index`; false if it is outside the image `x`.
  bool input(llvm::ArrayRef<int64_t> o, llvm::ArrayRef<int64_t> i,
             const plan::Shape &x, Index &index) const {
    for (int d = 0; d < spatial(); ++d) {
      int64_t p = o[d] * strides[d] - pads[d] + i[d] * dilations[d];
      if (p < 0 || p >= x[2 + d])
        return false;
      index[2 + d] = p;
    }
    return true;
  }
  /// The output position that reads input position `p` at kernel position `i`;
  /// false if there is none in `y`.
  bool output(llvm::ArrayRef<int64_t> p, llvm::ArrayRef<int64_t> i,
              const plan::Shape &y, Index &index) const {
    for (int d = 0; d < spatial(); ++d) {
      int64_t scaled = p[d] + pads[d] - i[d] * dilations[d];
      if (scaled < 0 || scaled % strides[d] != 0 ||
          scaled / strides[d] >= y[2 + d])
        return false;
      index[2 + d] = scaled / strides[d];
    }
    return true;
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

/// {n, channel} and the spatial part of `position`.
static Index imageIndex(int64_t n, int64_t channel,
                        llvm::ArrayRef<int64_t> position) {
  Index index = {n, channel};
  index.append(position.begin(), position.end());
  return index;
}

/// Puts `position` into the spatial part of `index`.
static void setPosition(Index &index, llvm::ArrayRef<int64_t> position) {
  for (size_t d = 0; d < position.size(); ++d)
    index[2 + d] = position[d];
}

static void convForward(const ReferenceCall &call) {
  const View &x = call.ins[0], &w = call.ins[1], &b = call.ins[2];
  const View &y = call.outs[0];
  Geometry at(call, w.global());
  // As in the runtime: the tiles that add the bias are those that are given it.
  bool addsBias = b.present() && !b.region().empty();
  plan::Box summed = at.withKernel({call.tile[call.tile.rank() - 1]});
  forEachIndex(withoutLast(call.tile), [&](llvm::ArrayRef<int64_t> i) {
    int64_t n = i[0], g = i[1], out = g * at.channelsOut + i[2];
    Index from = imageIndex(n, 0, i.drop_front(3));
    Index by = imageIndex(out, 0, at.kernel);
    double sum = addsBias ? b.at({out}) : 0;
    forEachIndex(summed, [&](llvm::ArrayRef<int64_t> tap) {
      if (!at.input(i.drop_front(3), tap.drop_front(), x.global(), from))
        return;
      from[1] = g * at.channelsIn + tap[0];
      by[1] = tap[0];
      setPosition(by, tap.drop_front());
      sum += x.at(from) * w.at(by);
    });
    y.at(imageIndex(n, out, i.drop_front(3))) = call.clamped(sum);
  });
}

static void convBackwardData(const ReferenceCall &call) {
  const View &dy = call.ins[0], &w = call.ins[1], &dx = call.outs[0];
  Geometry at(call, w.global());
  plan::Box summed = at.withKernel({call.tile[call.tile.rank() - 1]});
  forEachIndex(withoutLast(call.tile), [&](llvm::ArrayRef<int64_t> i) {
    int64_t n = i[0], g = i[1], k = i[2];
    Index from = imageIndex(n, 0, i.drop_front(3));
    Index by = imageIndex(0, k, at.kernel);
    double sum = 0;
    forEachIndex(summed, [&](llvm::ArrayRef<int64_t> tap) {
      if (!at.output(i.drop_front(3), tap.drop_front(), dy.global(), from))
        return;
      from[1] = g * at.channelsOut + tap[0];
      by[0] = from[1];
      setPosition(by, tap.drop_front());
      sum += dy.at(from) * w.at(by);
    });
    dx.at(imageIndex(n, g * at.channelsIn + k, i.drop_front(3))) = sum;
  });
}

static void convBackwardWeights(const ReferenceCall &call) {
  const View &x = call.ins[0], &dy = call.ins[1], &dw = call.outs[0];
  Geometry at(call, dw.global());
  plan::Box results = at.withKernel({call.tile[0], call.tile[1], call.tile[2]});
  plan::Box summed(1 + at.spatial());
  for (int d = 0; d < summed.rank(); ++d)
    summed[d] = call.tile[3 + d];
  forEachIndex(results, [&](llvm::ArrayRef<int64_t> i) {
    int64_t g = i[0], k = i[2], out = g * at.channelsOut + i[1];
    Index from = imageIndex(0, g * at.channelsIn + k, i.drop_front(3));
    Index by = imageIndex(0, out, at.kernel);
    double sum = 0;
    forEachIndex(summed, [&](llvm::ArrayRef<int64_t> o) {
      if (!at.input(o.drop_front(), i.drop_front(3), x.global(), from))
        return;
      from[0] = by[0] = o[0];
      setPosition(by, o.drop_front());
      sum += x.at(from) * dy.at(by);
    });
    dw.at(imageIndex(out, k, i.drop_front(3))) = sum;
  });
}

void ff::registerReferenceConv() {
  registerReference("conv_forward", convForward);
  registerReference("conv_backward_data", convBackwardData);
  registerReference("conv_backward_weights", convBackwardWeights);
}
