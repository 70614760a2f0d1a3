//===- Cost.h - how long kernels and transfers take -------------*- C++ -*-===//
//
// All times are integer picoseconds, so that plans are compared exactly.
// Kernels follow a roofline (Williams et al., CACM 2009); transfers and
// collectives an alpha-beta model on the topology's routes (Thakur et al.,
// IJHPCA 2005, for the ring algorithms). Which algorithm a collective runs by
// is chosen here, noted in the plan, and priced and run as noted.
//
// Every such cost grows with its bytes and flops, is rounded once to whole
// picoseconds, the same on every machine, and is at most kMaxCost.
//
// With a profile (Profile.h), what was measured takes the place of the model,
// on devices of the kind it was measured on.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_COST_H
#define FFC_PLAN_COST_H

#include "ffc/Plan/LocalWork.h"
#include "ffc/Plan/Program.h"
#include "ffc/Plan/Topology.h"
#include "ffc/Plan/Units.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ffc::plan {

/// About 13 days: what lasts longer is cut to this, so that sums of a few costs
/// stay within int64.
constexpr Picoseconds kMaxCost = Picoseconds(1) << 60;

class Profile;
struct GroupSchedules;
struct TimedSchedule;

/// Whether collectives run by schedules of the program's own
/// (CollectiveAlgorithm::Schedule).
enum class OwnCollectives {
  /// Where that is faster, and the program moves the data itself: among CPUs of
  /// several nodes, and in networks without a switch, which libraries for GPUs
  /// do not know.
  Auto,
  Always, ///< wherever there is one for the group
  Never,
};

struct CollectiveRules {
  OwnCollectives own = OwnCollectives::Auto;
  /// Schedules of this algorithm only (scheduleAlgorithms()); empty: of all.
  std::string algorithm = {};
  /// NCCL lets switches add up (NVLS), in any order.
  bool switchesAdd = false;
};

/// All members may be called from several threads at once. Copies share what
/// was computed about groups.
class CostModel {
public:
  /// Shares what `topology` holds; it need not outlive this.
  explicit CostModel(const Topology &topology,
                     std::shared_ptr<const Profile> profile = nullptr,
                     CollectiveRules collectives = {});

  /// Null: none.
  const Profile *profile() const { return measured.get(); }

  /// True if on all devices communication runs beside computation.
  bool overlaps() const { return overlapping; }
  /// CollectiveRules::switchesAdd.
  bool switchesAdd() const { return collectives.switchesAdd; }

  /// What a kernel or copy takes, and how it is known.
  enum class Source { Measured, Calibrated, Roofline };
  struct Estimate {
    Picoseconds time = 0;
    Source source = Source::Roofline;
  };
  Estimate local(DeviceId device, const LocalWork &work) const;

  /// Launch overhead of every part plus the larger of flops / peak and bytes /
  /// bandwidth, as far as kernels of that name reach these (Reached.h), with
  /// what of the smaller one does not hide behind it.
  Picoseconds kernel(DeviceId device, double flops, int64_t bytes,
                     Arithmetic arithmetic, int64_t parts = 1,
                     std::string_view name = {}) const;
  /// A local copy (or combination) that moves `bytes` once in and once out:
  /// launch overhead plus 2 bytes / memory bandwidth, or as copies of the
  /// profile.
  Picoseconds copy(DeviceId device, int64_t bytes) const;
  /// Sum of the route's latencies plus bytes over its narrowest link. To itself
  /// a device copies.
  Picoseconds transfer(DeviceId src, DeviceId dst, int64_t bytes) const;
  /// A collective of `members`, ascending, distinct, by the cheapest algorithm;
  /// nothing for a single one. `bytes` is the size of the whole tensor
  /// (AllReduce and Broadcast: of the buffer). In what follows n is the number
  /// of members, a the largest latency of a hop, and B the bandwidth of the
  /// slowest hop of the ring of all members, where hops over the same link
  /// share it.
  ///
  /// NCCL, where it knows the devices (DeviceKind::generation), takes what its
  /// own model says (NcclTimes.h). Any other library takes the least of these:
  ///
  ///   AllReduce, ring            2 (n - 1) (a + bytes / n / B)
  ///   AllReduce, tree            2 (ceil(log2 n) a + bytes / B)
  ///   AllGather, ReduceScatter     (n - 1) (a + bytes / n / B)
  ///   Broadcast, pipelined         (n - 1) a + bytes / B
  ///   Broadcast, tree              ceil(log2 n) (a + bytes / B)
  ///
  /// (Thakur et al.; the tree of the all-reduce is pipelined: Sanders, Speck
  /// and Traeff, Parallel Computing 2009.) Where m members lie in each of k > 1
  /// nodes, all but broadcasts may also go in two levels: a ring in each node,
  /// and m groups of k members at once across the nodes, each with its share
  /// of the bytes. An all-reduce across nodes is the cheaper of the above;
  /// all-gathers and reduce-scatters may go through parallel trees there:
  ///
  ///   across nodes, trees          ceil(log2 k) a + (k - 1) / k bytes / B
  ///
  /// (PAT: Jeaugey, 2025, as in NCCL from 2.23 on, one member per node).
  ///
  /// Where all members are CPUs of one node the program moves the data itself,
  /// through memory that the ranks share:
  ///
  ///   AllReduce, two-shot        2 (a + (n - 1) / n bytes / B)
  ///   AllReduce, one-shot          a + (n - 1) bytes / B
  ///                                n bytes of at most kOneShotBytes
  ///   AllGather, ReduceScatter     a + (n - 1) / n bytes / B
  ///   Broadcast                    a + bytes / B
  ///
  /// By messages of the program's own a collective but for broadcasts takes the
  /// least that a schedule of the group (Collectives/Algorithms.h) takes: its
  /// latencies, and bytes times its seconds per byte.
  Picoseconds collective(CollectiveKind kind,
                         const std::vector<DeviceId> &members,
                         int64_t bytes) const {
    return choose(kind, (*paths({members}))[0], bytes).time;
  }

  /// A ring's largest latency of a hop and the bytes per second through its
  /// slowest one.
  struct Ring {
    int64_t members = 1;
    Picoseconds latency = 0;
    double bandwidth = 0;
  };
  /// The rings on which a group communicates.
  struct Paths {
    Ring ring;
    /// Within a node, and across nodes. The latter of one member if nodes do
    /// not have equally many, or all are in one.
    Ring inner, outer;
    int64_t nodes = 1; ///< of the members
    /// What NCCL knows of them: the oldest of any, None if it does not of one.
    GpuGeneration generation = GpuGeneration::None;
    bool switchesAdd = false; ///< as the rules say
    bool shareMemory = false; ///< CPUs of one node
    /// A schedule, and what it takes beside those by which the other groups do
    /// the same.
    struct Own {
      const TimedSchedule *timed = nullptr; ///< of `schedules`
      double secondsPerByte = 0;
    };
    std::array<std::vector<Own>, kNumCollectiveKinds> own; ///< by kind
    std::shared_ptr<const GroupSchedules> schedules;
    bool mustOwn = false; ///< no library where there are schedules
    /// Where collectives of so many members on one node were measured; or null.
    const Profile *measured = nullptr;
  };
  /// The rings of groups that communicate all at once, so that those which go
  /// over the same link share it.
  std::shared_ptr<const std::vector<Paths>>
  paths(const std::vector<std::vector<DeviceId>> &groups) const;

  struct Choice {
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::Library;
    Picoseconds time = 0;
    std::shared_ptr<const CollectiveSchedule> schedule; ///< by Schedule
  };
  /// The cheapest algorithm.
  static Choice choose(CollectiveKind kind, const Paths &paths, int64_t bytes);

  /// What a collective takes by an algorithm that the kind and the members
  /// have, by Schedule one of those that choose() returns: time, and what goes
  /// over each hop of the ring of all members, or of the rings within and
  /// across the nodes, as a multiple of the bytes. Of what was measured only
  /// the time is known.
  struct CollectiveCost {
    Picoseconds time = 0;
    double ring = 0, inner = 0, outer = 0;
    /// In place of these by Schedule; valid as long as the paths.
    const TimedSchedule *schedule = nullptr;
  };
  static CollectiveCost costOf(CollectiveKind kind,
                               CollectiveAlgorithm algorithm,
                               const CollectiveSchedule *schedule,
                               const Paths &paths, int64_t bytes);
  /// Multiples of a collective's bytes that go over links, by ascending link.
  std::vector<std::pair<LinkId, double>>
  linksOf(const CollectiveCost &collective,
          const std::vector<DeviceId> &members) const;

  /// A message of an exchange.
  struct Transfer {
    DeviceId src = -1, dst = -1; ///< distinct
    int64_t bytes = 0;
  };
  /// For how long the messages of one exchange keep each device busy, by
  /// ascending device. A device sends one after the other and receives one
  /// after the other, both at once, for which a profile knows how much longer
  /// it takes; and nobody is done before all that goes
  /// over a link that he uses has passed it. What is not measured has a start
  /// (DeviceKind::messageStart).
  std::vector<std::pair<DeviceId, Picoseconds>>
  exchange(const std::vector<Transfer> &messages) const;

private:
  struct PathCache;

  std::vector<Paths>
  findPaths(const std::vector<std::vector<DeviceId>> &groups) const;
  /// Adds the schedules of the groups to their paths.
  void findOwn(const std::vector<std::vector<DeviceId>> &groups,
               std::vector<Paths> &found) const;
  bool mayOwn(const std::vector<DeviceId> &members) const;
  std::shared_ptr<const GroupSchedules>
  schedulesFor(const std::vector<DeviceId> &members) const;

  bool isMeasured(DeviceId device) const;
  bool isMeasured(const std::vector<DeviceId> &members) const;
  bool messageIsMeasured(DeviceId src, DeviceId dst) const;

  Topology topology;
  std::shared_ptr<const Profile> measured;
  bool overlapping = true;
  CollectiveRules collectives;
  bool isDirect = false; ///< no switch joins the nodes
  std::shared_ptr<PathCache> known;
};

} // namespace ffc::plan

#endif // FFC_PLAN_COST_H
