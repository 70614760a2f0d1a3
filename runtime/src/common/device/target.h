//===- target.h - memory of the device that kernels run on ------*- C++ -*-===//
//
// What the runtime does without knowing the target; every target implements it.
// The host reads and writes the memory of tensors only in these ways.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_TARGET_H
#define FFRT_COMMON_TARGET_H

#include "ffrt/comm.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace ffrt {

/// True if tensors are in memory of the host, so that pointers to them are
/// good there.
bool target_is_host();

/// Memory of the device, zeroed. Throws Error when there is not enough.
std::shared_ptr<void> allocate(std::size_t bytes);
using Allocate = std::function<std::shared_ptr<void>(std::size_t bytes)>;

/// To and from memory of the device, after what was started before.
void write_target(void *to, const void *from, std::size_t bytes);
void read_target(void *to, const void *from, std::size_t bytes);

/// Memory of the host that the device reads and writes by itself.
std::shared_ptr<void> host_memory(std::size_t bytes);
/// As read_target(), but `to`, in host_memory(), has it when finish_target()
/// returns.
void start_reading(void *to, const void *from, std::size_t bytes);

/// Returns when everything that was started is done.
void finish_target();

/// Communication of tensors in the device's memory.
struct DeviceComm {
  std::unique_ptr<Comm> comm; ///< null: that of the host serves
  /// A step of this rank may be replayed (common/device/replay.h).
  bool replays = false;
  /// Looks after a replay that was just started; or null.
  std::function<void()> watch_replay;
  /// As allocate(), but memory that the groups made from then on share: every
  /// rank asks for as much, in the same order. It must outlive `comm`. Null:
  /// groups share none.
  Allocate allocate_symmetric;
};
/// Collective. `host` must outlive it.
DeviceComm make_device_comm(Comm &host, const Group &world);

/// Before and after kernels are made, which may choose between plans of
/// libraries by time. Collective. agree_on_plans() is false when ranks have
/// chosen otherwise; kernels are to be made once more then.
void begin_plans(Comm &host, const Group &world);
bool agree_on_plans(Comm &host, const Group &world);

} // namespace ffrt

#endif // FFRT_COMMON_TARGET_H
