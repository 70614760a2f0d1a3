//===- ReferenceRanking.cpp - selection and running sums in plain loops ---===//

#include "ReferenceFamilies.h"

#include <algorithm>
#include <numeric>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Calls `body` with the index of the first element of every line along `axis`.
template <class Body>
static void forEachLine(const ReferenceCall &call, int64_t axis, Body body) {
  plan::Box firsts = call.tile;
  firsts[static_cast<int>(axis)] = {0, 1};
  forEachIndex(firsts, [&](ArrayRef<int64_t> first) {
    body(SmallVector<int64_t>(first));
  });
}

static void topK(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0], &index = call.outs[1];
  int64_t axis = call.i64("axis");
  bool largest = call.i64("largest") != 0;
  int64_t count = (y.present() ? y : index).global()[axis];
  forEachLine(call, axis, [&](SmallVector<int64_t> i) {
    std::vector<double> values;
    for (i[axis] = 0; i[axis] < x.global()[axis]; ++i[axis])
      values.push_back(x.at(i));
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return largest ? values[a] > values[b] : values[a] < values[b];
    });
    for (i[axis] = 0; i[axis] < count; ++i[axis]) {
      int64_t source = order[i[axis]];
      if (y.present())
        y.at(i) = values[source];
      if (index.present())
        index.at(i) = static_cast<double>(source);
    }
  });
}

static void topKBackward(const ReferenceCall &call) {
  const View &dy = call.ins[0], &index = call.ins[1], &dx = call.outs[0];
  int64_t axis = call.i64("axis");
  forEachLine(call, axis, [&](SmallVector<int64_t> i) {
    std::vector<double> line(dx.global()[axis]);
    for (i[axis] = 0; i[axis] < dy.global()[axis]; ++i[axis])
      line[static_cast<size_t>(index.at(i))] += dy.at(i);
    for (i[axis] = 0; i[axis] < dx.global()[axis]; ++i[axis])
      dx.at(i) = line[i[axis]];
  });
}

static void cumSum(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0];
  int64_t axis = call.i64("axis"), count = x.global()[axis];
  bool exclusive = call.i64("exclusive") != 0;
  bool reverse = call.i64("reverse") != 0;
  forEachLine(call, axis, [&](SmallVector<int64_t> i) {
    double sum = 0;
    for (int64_t k = 0; k < count; ++k) {
      i[axis] = reverse ? count - 1 - k : k;
      double element = x.at(i);
      y.at(i) = exclusive ? sum : sum + element;
      sum += element;
    }
  });
}

void ff::registerReferenceRanking() {
  registerReference("top_k", topK);
  registerReference("top_k_backward", topKBackward);
  registerReference("cum_sum", cumSum);
}
