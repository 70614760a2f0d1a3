//===- actions.h - what a program does itself in a step ---------*- C++ -*-===//
#ifndef FFRT_ACTIONS_H
#define FFRT_ACTIONS_H

#include "ffrt/context.h"
#include "ffrt/copy.h"
#include "ffrt/kernel.h"
#include "ffrt/trace.h"

namespace ffrt {

/// Kernels and copies as tasks of a trace. What a program communicates is noted
/// by its Comm.
class Actions {
protected:
  explicit Actions(Trace *trace) : trace(trace) {}
  /// `dst` gets the mean of `src` over the micro-batches of a step, of which
  /// this is one.
  void accumulate(const Context &cx, const Tensor &dst, Index dst_at,
                  const Tensor &src, Index src_at, Index size) const {
    const TracedTask task(trace, Trace::Kind::copy);
    ffrt::accumulate(dst, dst_at, src, src_at, size,
                     cx.micro_batch % cx.micro_batches == 0,
                     1.0 / cx.micro_batches);
  }

  template <class Kernel>
  void compute(Kernel &kernel, Tensors in, Tensors out) const {
    const TracedTask task(trace, Trace::Kind::kernel);
    kernel(in, out);
  }
  void copy(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
            Index size) const {
    const TracedTask task(trace, Trace::Kind::copy);
    ffrt::copy(dst, dst_at, src, src_at, size);
  }
  void combine(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
               Index size, ReduceOp op) const {
    const TracedTask task(trace, Trace::Kind::copy);
    ffrt::combine(dst, dst_at, src, src_at, size, op);
  }

private:
  Trace *const trace; ///< null: nothing is noted
};

} // namespace ffrt

#endif // FFRT_ACTIONS_H
