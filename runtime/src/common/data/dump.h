//===- dump.h - global values into .npy files -------------------*- C++ -*-===//
#ifndef FFRT_COMMON_DUMP_H
#define FFRT_COMMON_DUMP_H

#include "common/checkpoint/global_state.h"
#include "common/data/file_set.h"
#include "common/data/names.h"
#include "common/data/piece.h"
#include "ffrt/program.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ffrt {

/// Keeps what a program offers while recording, gathers the pieces of all ranks
/// on rank 0 and writes global arrays there. No shared file system is needed.
/// What is written is forgotten, so that another step can be recorded.
class Dump final : public Probe {
public:
  Dump(const ProgramInfo &info, Comm &comm, const Group &world)
      : info(info), comm(comm), world(world) {}

  /// Offers are recorded from now on; the latest of each box wins. To be called
  /// before every micro-batch of a step over `samples` samples; this one begins
  /// with number `first`: outputs that have a row per sample of the
  /// batch are written with a row for each of them.
  void record_batch(int64_t first, int64_t samples);
  void offer(const char *name, const Tensor &tensor) override;

  /// Fills a slot in the host's memory with what it began with.
  using Begin = std::function<void(const StateSlot &slot)>;

  /// Collective. Writes outputs, parameters and, in a training program, the
  /// losses (read on rank 0) into `folder`: all of them, or none. Of a
  /// parameter that does not change, what no rank holds, since no kernel reads
  /// it, is as in the beginning. Throws Stop when a piece of another value is
  /// missing or a file cannot be written.
  void write(const std::string &folder, const std::vector<StateSlot> &states,
             const std::vector<double> &losses, const Begin &begin);

private:
  /// True when the output has a row per sample of the batch.
  bool batched(const std::string &name) const;
  /// Gradients as those of the loss, where it was multiplied by an output
  /// "loss_scale" before.
  void unscale_gradients();
  /// What this rank has of outputs, and of parameters.
  std::vector<StateSlot> slots(const std::vector<StateSlot> &states);
  /// Makes what no rank holds what it was in the beginning. Throws Error unless
  /// it is a parameter, and the rest of it is as it was then, too.
  static void complete(const GlobalValue &value, const std::vector<Cell> &cells,
                       std::byte *whole, const Begin &begin);

  const ProgramInfo &info;
  Comm &comm;
  const Group &world;
  bool recording = false;
  int64_t first_sample = 0, samples = 0; ///< 0: the batch only
  std::map<std::string, std::vector<Piece>> offered;
  std::vector<Piece> kept; ///< of parameters, while they are written
};

} // namespace ffrt

#endif // FFRT_COMMON_DUMP_H
