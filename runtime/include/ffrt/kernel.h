//===- kernel.h - the calling convention of kernels -------------*- C++ -*-===//
//
// Every kernel is a class. Its constructor gets the context, the operand
// tensors, the result tensors and the operator's attributes *in alphabetical
// order of their names*; it does everything that may allocate or compile
// (oneDNN primitives, scratch). Calling the object does the work on the tensors
// passed, which have the same shapes and boxes as those of the constructor and
// may differ in `data` only. A call allocates nothing (but oneDNN does for its
// own bookkeeping, a dozen small blocks that it frees before it returns).
//
// A result is overwritten, but for partial sums that say Tensor::accumulates:
// kernels that say so in their description add theirs to these.
//
// Geometry is global: attributes are those of the whole operator, and a kernel
// derives what its tile needs (a convolution's local padding, a dropout mask's
// element numbers) from the boxes of its tensors.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_KERNEL_H
#define FFRT_KERNEL_H

#include "ffrt/context.h"
#include "ffrt/real.h"
#include "ffrt/tensor.h"

#include <initializer_list>
#include <vector>

namespace ffrt {

/// Operands or results of a kernel, in the operator's order: a view of what
/// outlives the call.
class Tensors {
public:
  Tensors(std::initializer_list<Tensor> list) : count(list.size()) {
    first = list.begin();
  }
  Tensors(const std::vector<Tensor> &list)
      : first(list.data()), count(list.size()) {}
  const Tensor *begin() const { return first; }
  const Tensor *end() const { return first + count; }
  std::size_t size() const { return count; }

private:
  const Tensor *first;
  std::size_t count;
};

/// An integer-list attribute (strides, pads, permutation).
using Ints = std::vector<int64_t>;

/// A list of numbers (scales).
using Reals = std::vector<double>;

} // namespace ffrt

#endif // FFRT_KERNEL_H
