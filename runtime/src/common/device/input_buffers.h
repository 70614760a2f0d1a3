//===- input_buffers.h - the way of inputs to the device --------*- C++ -*-===//
#ifndef FFRT_COMMON_INPUT_BUFFERS_H
#define FFRT_COMMON_INPUT_BUFFERS_H

#include "ffrt/tensor.h"

#include <memory>
#include <vector>

namespace ffrt {

/// The tensors of a program's inputs, and memory of the host that they are
/// filled from. Where the device is another, batches go there beside what it
/// computes. Calls after the constructor allocate nothing.
class InputBuffers {
public:
  /// `slots` are the tensors on the device; absent ones stay absent.
  explicit InputBuffers(const std::vector<Tensor> &slots);
  ~InputBuffers();
  InputBuffers(InputBuffers &&) noexcept;

  /// Like the slots, for the host to write: other memory after every send().
  const std::vector<Tensor> &host() const;
  /// The slots get what host() holds, after all that was started before and
  /// before all that is started from here on. Returns as soon as there is a
  /// host() that may be written.
  void send();
  /// The slots, which are buffers of the step like any others, get once more
  /// what was sent last.
  void send_again();

private:
  struct Impl; ///< of the target
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_COMMON_INPUT_BUFFERS_H
