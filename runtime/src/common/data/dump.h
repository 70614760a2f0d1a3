//===- dump.h - global values into .npy files -------------------*- C++ -*-===//
#ifndef FFRT_COMMON_DUMP_H
#define FFRT_COMMON_DUMP_H

#include "ffrt/program.h"

#include <functional>
#include <map>
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
  /// losses (read on rank 0) into `folder`. Of a parameter that does not
  /// change, what no rank holds, since no kernel reads it, is as in the
  /// beginning. Throws Stop when a piece of another value is missing or a file
  /// cannot be written.
  void write(const std::string &folder, const std::vector<StateSlot> &states,
             const std::vector<double> &losses, const Begin &begin);

private:
  /// A box of a value with its elements in row-major order.
  struct Piece {
    Index lo, shape;
    std::vector<std::byte> bytes;
  };

  /// A global value.
  struct Value {
    DType type;
    int rank;
    Index shape;
  };

  struct Parameter {
    Value value;
    Init init;
  };

  static Piece keep(const Tensor &on_device);
  /// Gradients as those of the loss, where it was multiplied by an output
  /// "loss_scale" before.
  void unscale_gradients();
  /// `begin` fills a tensor with what the value began with, where pieces may be
  /// missing; null: all must be there.
  void write_value(const std::string &folder, const std::string &path,
                   const Value &value, const std::vector<Piece> &pieces,
                   const std::function<void(const Tensor &)> &begin);
  /// Are all elements that are `covered` as in the beginning? Then all others
  /// are made so.
  static bool is_unchanged(std::vector<std::byte> &whole,
                           const std::vector<uint8_t> &covered,
                           const Value &value,
                           const std::function<void(const Tensor &)> &begin);
  std::vector<Piece> receive(int peer, int rank, DType type, int64_t count);
  void send(int rank, DType type, const std::vector<Piece> &pieces);
  /// The parameters of all ranks; a rank may hold no part of some.
  std::map<std::string, Parameter>
  all_parameters(const std::vector<StateSlot> &states);

  const ProgramInfo &info;
  Comm &comm;
  const Group &world;
  bool recording = false;
  /// True when the output has a row per sample of the batch.
  bool batched(const std::string &name) const;

  int64_t first_sample = 0, samples = 0; ///< 0: the batch only
  std::map<std::string, std::vector<Piece>> offered;
};

} // namespace ffrt

#endif // FFRT_COMMON_DUMP_H
