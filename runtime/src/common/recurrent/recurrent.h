//===- recurrent.h - steps of a recurrent layer -----------------*- C++ -*-===//
//
// Which steps are done, and on which vectors, is the same for all targets where
// a target has the work of one step; it may do all of them its own way.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_RECURRENT_H
#define FFRT_COMMON_RECURRENT_H

#include "ffrt/kernel.h"

#include <memory>
#include <string>

namespace ffrt {

enum class Cell { lstm, gru, gru_reset_after, rnn_tanh, rnn_relu };

/// Numbers of elements, and the order of steps.
struct RecurrentSteps {
  const char *kernel;
  const char *kind;
  Cell cell;
  bool reverse;
  bool tf32; ///< operands may be rounded
  int64_t steps, samples, units;
  int64_t gates; ///< gate vectors of a sample and step
  int64_t saved; ///< vectors that the gradient needs

  /// From r and `sequence`, which holds vectors for all steps.
  RecurrentSteps(const Context &cx, const char *kernel, const std::string &kind,
                 int64_t reverse, const Tensor &r, const Tensor &sequence);

  /// The step that is done as number `i`.
  int64_t at(int64_t i) const { return reverse ? steps - 1 - i : i; }
  /// Elements of a vector of every sample.
  int64_t state() const { return samples * units; }

  /// These throw unless the tensor is absent or as its name says.
  void expect_sequence(const char *name, const Tensor &t,
                       int64_t vectors) const;
  void expect_state(const char *name, const Tensor &t) const;
};

/// Memory of the target for floats, which starts as zeros.
class OwnFloats {
public:
  void make(int64_t elements);
  /// For an absent `t`.
  void make(const Tensor &t, int64_t elements);
  float *data() const { return static_cast<float *>(memory.get()); }
  /// Data of `t`, or of this where it is absent.
  float *of(const Tensor &t) const { return t.data ? t.as<float>() : data(); }

private:
  std::shared_ptr<void> memory;
};

/// On the target: n floats.
void copy_floats(const float *from, int64_t n, float *to);
/// Starts n floats with a tensor, or with zeros where it is absent.
void start_floats(const Tensor &t, int64_t n, float *to);

//===----------------------------------------------------------------------===//
// All steps, which every target implements
//===----------------------------------------------------------------------===//

/// Operands and results of RecurrentForward by name.
struct ForwardOperands {
  const Tensor &x, &r, &bias, &h0, &c0, &y, &h, &c, &saved;
  ForwardOperands(const Tensor *in, const Tensor *out)
      : x(in[0]), r(in[1]), bias(in[2]), h0(in[3]), c0(in[4]), y(out[0]),
        h(out[1]), c(out[2]), saved(out[3]) {}
};

class ForwardLayer {
public:
  virtual ~ForwardLayer() = default;
  virtual void operator()(const ForwardOperands &t) = 0;
};

/// For operands and results like these, which have been checked.
std::unique_ptr<ForwardLayer> make_forward_layer(const RecurrentSteps &steps,
                                                 Tensors in, Tensors out);

/// Operands and results of RecurrentBackward by name.
struct BackwardOperands {
  const Tensor &r, &saved, &dy, &dh, &dc, &y, &h0, &c0, &dx, &dh0, &dc0, &dr;
  BackwardOperands(const Tensor *in, const Tensor *out)
      : r(in[0]), saved(in[1]), dy(in[2]), dh(in[3]), dc(in[4]), y(in[5]),
        h0(in[6]), c0(in[7]), dx(out[0]), dh0(out[1]), dc0(out[2]), dr(out[3]) {
  }
};

class BackwardLayer {
public:
  virtual ~BackwardLayer() = default;
  virtual void operator()(const BackwardOperands &t) = 0;
};

std::unique_ptr<BackwardLayer> make_backward_layer(const RecurrentSteps &steps,
                                                   Tensors in, Tensors out);

//===----------------------------------------------------------------------===//
// One step after the other
//===----------------------------------------------------------------------===//

/// What a step reads and writes; vectors of all samples.
struct ForwardVectors {
  const float *x;
  const float *bias;
  const float *before; ///< states
  bool from_zeros;     ///< these are zeros: there is nothing to multiply
  float *after, *saved, *cells;
};

class ForwardStep {
public:
  virtual ~ForwardStep() = default;
  /// Before the first step of a call.
  virtual void prepare(const Tensor &r) = 0;
  virtual void operator()(const ForwardVectors &v) = 0;
};

std::unique_ptr<ForwardLayer> step_by_step(const RecurrentSteps &steps,
                                           const ForwardOperands &t,
                                           std::unique_ptr<ForwardStep> step);

struct BackwardVectors {
  const float *saved, *dy;
  /// The cells of an LSTM, or the states of a GRU, before the step; the vectors
  /// of samples are `before_stride` apart.
  const float *before;
  int64_t before_stride;
  float *dstates, *dcells; ///< after the step; and then before it
  float *dx;
  float *dr; ///< of what states add to gates; for gru_reset_after only
};

class BackwardStep {
public:
  virtual ~BackwardStep() = default;
  /// Before the first step of a call.
  virtual void prepare(const Tensor &r) = 0;
  /// Gradients of gates, of cells, and of states as far as they go around the
  /// gates.
  virtual void operator()(const BackwardVectors &v) = 0;
  /// Gradients of states through the gates.
  virtual void multiply(const BackwardVectors &v) = 0;
};

std::unique_ptr<BackwardLayer> step_by_step(const RecurrentSteps &steps,
                                            const BackwardOperands &t,
                                            std::unique_ptr<BackwardStep> step);

} // namespace ffrt

#endif // FFRT_COMMON_RECURRENT_H
