//===- ReferenceProduct.cpp - LRN and matrix product in plain loops -------===//

#include "ReferenceFamilies.h"
#include "ffc/IR/UnaryTable.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>

using namespace ffc;
using namespace ffc::ff;

using Coordinates = llvm::SmallVector<int64_t, plan::kMaxRank>;

/// Calls body(coordinates) for the elements of the channels c - below to
/// c + above that exist, otherwise at `index`.
template <class Body>
static void forEachChannel(llvm::ArrayRef<int64_t> index, int64_t below,
                           int64_t above, int64_t channels, Body body) {
  Coordinates at(index);
  int64_t last = std::min(index[1] + above, channels - 1);
  for (at[1] = std::max<int64_t>(index[1] - below, 0); at[1] <= last; ++at[1])
    body(llvm::ArrayRef<int64_t>(at));
}

static void lrnForward(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0], &scale = call.outs[1];
  int64_t size = call.i64("size");
  double alpha = call.f64("alpha") / static_cast<double>(size);
  double beta = call.f64("beta"), bias = call.f64("bias");
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    double squares = 0;
    forEachChannel(
        i, (size - 1) / 2, size / 2, x.global()[1],
        [&](llvm::ArrayRef<int64_t> at) { squares += x.at(at) * x.at(at); });
    double s = bias + alpha * squares;
    y.at(i) = x.at(i) * std::pow(s, -beta);
    if (scale.present())
      scale.at(i) = s;
  });
}

static void lrnBackward(const ReferenceCall &call) {
  const View &dy = call.ins[0], &x = call.ins[1], &scale = call.ins[2];
  const View &dx = call.outs[0];
  int64_t size = call.i64("size");
  double alpha = call.f64("alpha") / static_cast<double>(size);
  double beta = call.f64("beta");
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    // The channels whose windows contain this one.
    double sum = 0;
    forEachChannel(i, size / 2, (size - 1) / 2, x.global()[1],
                   [&](llvm::ArrayRef<int64_t> at) {
                     sum += dy.at(at) * x.at(at) *
                            std::pow(scale.at(at), -beta - 1);
                   });
    dx.at(i) = dy.at(i) * std::pow(scale.at(i), -beta) -
               2 * alpha * beta * x.at(i) * sum;
  });
}

/// y = alpha op(a) op(b) + beta c + addend, the last two of which may be
/// absent.
static void multiply(const ReferenceCall &call, const View &y, double alpha,
                     const View &c = View(), double beta = 1,
                     const View &addend = View()) {
  const View &a = call.ins[0], &b = call.ins[1];
  bool transA = call.i64("trans_a") != 0, transB = call.i64("trans_b") != 0;
  // The tile: batch dimensions, rows, columns, contracted dimension.
  int rows = call.tile.rank() - 3, columns = rows + 1, contracted = rows + 2;
  // The element of a tensor at `i`, with the last two dimensions `row` and
  // `column` and 0 along dimensions of extent 1.
  auto at = [&](const View &view, llvm::ArrayRef<int64_t> i, int row,
                int column) -> double & {
    Coordinates index(view.rank());
    for (int d = 0; d < view.rank(); ++d) {
      int fromLast = view.rank() - 1 - d;
      int dim = fromLast == 0   ? column
                : fromLast == 1 ? row
                                : columns - fromLast;
      index[d] = view.global()[d] == 1 ? 0 : i[dim];
    }
    return view.at(index);
  };
  // As in the runtime: the tiles that add something are those that are given
  // it.
  auto isGiven = [](const View &view) {
    return view.present() && !view.region().empty();
  };
  bool addsC = isGiven(c), addsAddend = isGiven(addend);
  plan::Tile results = call.tile;
  for (int d = 0; d < results.rank(); ++d) {
    int own = d - (columns + 1 - y.rank());
    if (d == contracted || own < 0 || (d < rows && y.global()[own] == 1))
      results[d].hi = results[d].lo + 1;
  }
  forEachIndex(results, [&](llvm::ArrayRef<int64_t> i) {
    at(y, i, rows, columns) = (addsC ? beta * at(c, i, rows, columns) : 0) +
                              (addsAddend ? at(addend, i, rows, columns) : 0);
  });
  forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    at(y, i, rows, columns) +=
        alpha *
        at(a, i, transA ? contracted : rows, transA ? rows : contracted) *
        at(b, i, transB ? columns : contracted, transB ? contracted : columns);
  });
}

/// Calls `body` with every index of what is written.
static void forEachOf(const View &y,
                      llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body) {
  y.region().forEachBox([&](const plan::Box &box) { forEachIndex(box, body); });
}

static void matmul(const ReferenceCall &call) {
  const View &y = call.outs[0];
  multiply(call, y, call.f64("alpha"), call.ins[2], call.f64("beta"),
           call.ins[3]);
  forEachOf(
      y, [&](llvm::ArrayRef<int64_t> i) { y.at(i) = call.clamped(y.at(i)); });
}

static void matmulSums(const ReferenceCall &call) {
  multiply(call, call.outs[0], call.f64("alpha"));
  // Of the operand, on the tile of its batch, contracted and own dimension.
  const bool ofA = call.i64("sums_of") == 0;
  const View &x = call.ins[ofA ? 0 : 1], &sums = call.outs[1];
  const int batch = call.tile.rank() - 3;
  plan::Tile part(batch + 2);
  for (int d = 0; d < batch; ++d)
    part[d] = call.tile[d];
  part[batch] = call.tile[batch + 2];
  part[batch + 1] = call.tile[ofA ? batch : batch + 1];
  for (int64_t i = part[batch + 1].lo; i < part[batch + 1].hi; ++i)
    sums.at({i}) = 0;
  forEachIndex(
      part, [&](llvm::ArrayRef<int64_t> i) { sums.at({i.back()}) += x.at(i); });
}

static void matmulGelu(const ReferenceCall &call) {
  const View &z = call.outs[0], &y = call.outs[1];
  const View &sum = z.present() ? z : y;
  multiply(call, sum, 1, call.ins[2]);
  const UnaryFunction &gelu = unaryFunction(UnaryKind::GeluTanh);
  forEachOf(y, [&](llvm::ArrayRef<int64_t> i) {
    y.at(i) = gelu.value(sum.at(i), 0, 0);
  });
}

static void matmulGeluBackward(const ReferenceCall &call) {
  const View &z = call.ins[2], &dz = call.outs[0];
  multiply(call, dz, 1);
  const UnaryFunction &gelu = unaryFunction(UnaryKind::GeluTanh);
  forEachOf(dz, [&](llvm::ArrayRef<int64_t> i) {
    dz.at(i) *= gelu.slope(z.at(i), 0, 0);
  });
}

void ff::registerReferenceProduct() {
  registerReference("lrn_forward", lrnForward);
  registerReference("lrn_backward", lrnBackward);
  registerReference("mat_mul", matmul);
  registerReference("mat_mul_sums", matmulSums);
  registerReference("mat_mul_gelu", matmulGelu);
  registerReference("mat_mul_gelu_backward", matmulGeluBackward);
}
