//===- Configuration.h - where and how an operator is split -----*- C++ -*-===//
#ifndef FFC_PLAN_CONFIGURATION_H
#define FFC_PLAN_CONFIGURATION_H

#include "ffc/Plan/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// Iteration dimension number of a `replica` axis: points that differ only in
/// it compute identical whole results.
constexpr int kReplica = -1;

/// One axis of a grid.
struct GridAxis {
  int dim = kReplica; ///< index into OpRules::dims, or kReplica
  int64_t degree = 1;
  /// How large the blocks are, for devices that are not equally fast: one
  /// positive number for each (blockOf()). Empty: as equal as can be.
  std::vector<int64_t> shares = {};

  /// With the smallest numbers of the same proportions; none if all are equal.
  static GridAxis withShares(int dim, std::vector<int64_t> shares);
  bool operator==(const GridAxis &o) const {
    return dim == o.dim && degree == o.degree && shares == o.shares;
  }
  /// The part of `dim`, which it splits, that block `index` is.
  Interval blockOf(const IterDim &dim, int64_t index) const;
  /// "4", or "3:3:1:1", long repetitions as "8*16:1*16".
  std::string str() const;
};

/// Degrees over named iteration dimensions and a device per grid point in
/// row-major order (the last axis fastest). Devices may repeat (several points
/// on one device), be unordered, and need not all be used. An axis may stand at
/// most once per dimension; `kReplica` may stand several times.
struct Configuration {
  std::vector<GridAxis> axes;
  std::vector<DeviceId> devices; ///< as many as grid points
  /// Less memory for more work (Recomputation.h). Of a forward operator:
  /// results are not kept for the backward pass, but computed again there. Of
  /// an update: devices do not keep the parts of its parameter that they were
  /// sent, or made of what they have, but get them again.
  bool again = false;

  /// Everything on one device.
  static Configuration onDevice(DeviceId device) { return {{}, {device}}; }

  int64_t numPoints() const;
  /// Degree of iteration dimension `dim`, 1 if it is not split.
  int64_t degreeOf(int dim) const;
  /// Block index of `point` along each axis.
  std::vector<int64_t> coordinates(int64_t point) const;
  /// The part of the iteration space that `point` computes.
  Tile tileOf(const OpRules &rules, int64_t point) const;

  bool operator==(const Configuration &o) const {
    return axes == o.axes && devices == o.devices && again == o.again;
  }
  /// "{n = 2, h = 3:1} on 0 2 1 3", and " again".
  std::string str(const OpRules &rules) const;
};

/// " 0 1 2 3", long runs as ranges and repetitions, as strategy files have
/// them: " 0-7 9*6", and " 0-3*16" for micro-batches on four devices.
std::string str(const std::vector<DeviceId> &devices);

/// One configuration per operator.
using Strategy = std::vector<Configuration>;

/// Why `config` is not legal for `op` on `numDevices` devices, or nothing.
/// Legal means: degrees within the extent (in units of granularity) of
/// splittable dimensions, shares only of these, positive and at most kMaxShares
/// together, as many devices as points, devices within the topology, every
/// result of every tile one box, and nothing done again that cannot be
/// (canBeAgain()).
std::optional<std::string> checkConfiguration(const Graph &graph, OpId op,
                                              const Configuration &config,
                                              int numDevices);

/// Can an operator have Configuration::again? Forward operators whose results
/// are neither stored, the loss, nor added up over the micro-batches of
/// Graph::microBatches; updates.
bool canBeAgain(const Graph &graph, OpId op);
/// The same of all operators.
std::vector<bool> canBeAgain(const Graph &graph);

/// True if points of `config` hold partial values of what `write` writes.
bool isPartial(const Configuration &config, const SlotWrite &write);

/// The schedule of `rules` that `config` selects. Requires a legal `config`.
const Schedule &scheduleFor(const OpRules &rules, const Configuration &config);

/// The configuration an operator takes from another one when it has none of its
/// own, so that the value they share stays where it is as far as possible: axes
/// that split the shared value carry over, all others become replicas. Points
/// keep their devices. An axis with more parts than the leading digit of what
/// it becomes has values is of the next digit, too: 60 parts of 5 x 100 are
/// 5 x 12.
///
/// Both touch the shared value, in the given slots. The result is legal.
Configuration carryOver(const Graph &graph, OpId from,
                        const Configuration &config, int fromSlot, OpId to,
                        int toSlot);

/// The configuration of a gradient operator: axes carry over by dimension name,
/// the rest become replicas.
Configuration carryOverByName(const Graph &graph, OpId from,
                              const Configuration &config, OpId to);

/// Fills the configurations that `given` leaves out. Operators follow, in this
/// order: their leader (ffc/Plan/Following.h), the first reader of a result
/// that has a configuration, and device 0. `followed`, if not null, receives
/// the forward operators that were not given.
Strategy
completeStrategy(const Graph &graph,
                 const std::vector<std::optional<Configuration>> &given,
                 std::vector<OpId> *followed = nullptr);

/// Every operator that has a sample dimension is split over all devices along
/// it, others are replicated. Fails with a message if the batch is too small.
std::optional<std::vector<std::optional<Configuration>>>
dataParallel(const Graph &graph, int numDevices, std::string &error);

} // namespace ffc::plan

#endif // FFC_PLAN_CONFIGURATION_H
