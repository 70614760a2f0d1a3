//===- Topology.h - devices and how they are connected ----------*- C++ -*-===//
//
// The device topology D: a directed graph of devices, switches and network
// interfaces (NICs). Read from a file (docs/topology.md) or made of a preset;
// all forms expand to the same graph, and nothing after the reader sees which
// one was used.
//
// A topology does not change once read and copies share it. All members may be
// called from several threads at once.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_TOPOLOGY_H
#define FFC_PLAN_TOPOLOGY_H

#include "ffc/Plan/Graph.h"
#include "ffc/Plan/Units.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// More devices than this in one file are taken for a mistake.
constexpr int kMaxDevices = 65536;

enum class Target { CPU, CUDA };
/// "cpu", "cuda".
const char *str(Target target);

/// Arithmetic that a device kind gives a rate for. Wider than ElementType: the
/// narrow types are modes in which f32 programs may compute.
enum class Arithmetic { F64, F32, TF32, BF16, F16, I64, I32, I8 };
constexpr int kNumArithmetics = 8;
/// "f64", "tf32", ...
const char *str(Arithmetic arithmetic);
/// What operators on `type` compute in. Bytes and masks count as f32: rates of
/// i8 are those of matrix units.
Arithmetic arithmeticOf(ElementType type);

/// Of whose GPUs a kind's figures are those of the data sheet: what libraries
/// reach of them, and how NCCL communicates, is known (Reached.h,
/// docs/topology.md).
enum class GpuGeneration { None, Volta, Ampere, Hopper, Blackwell };
constexpr int kNumGpuGenerations = 5;
/// "none", "volta", ...
const char *str(GpuGeneration generation);

/// What NCCL takes to start anything of few bytes, by its own model (tuning.cc:
/// its ring and LL).
constexpr Picoseconds kNcclStart = 6'600'000;

struct DeviceKind {
  std::string name;
  Target target = Target::CPU;
  GpuGeneration generation = GpuGeneration::None; ///< None: as figures say
  /// Operations per second by Arithmetic; 0 where the file gives none, except
  /// F32, which is always given.
  std::array<double, kNumArithmetics> flops{};
  int64_t memoryBytes = 0;
  double memoryBandwidth = 0; ///< bytes per second, reads plus writes
  Picoseconds launch = 0;     ///< from one kernel's end to the next's start
  bool overlap = false;       ///< communication runs beside computation

  /// What a device takes before any messages go: a call of NCCL.
  Picoseconds messageStart() const {
    return generation == GpuGeneration::None ? 0 : kNcclStart;
  }
  /// Kernels of one kind that follow each other may start together
  /// (docs/decisions/0027).
  bool collectsKernels() const { return target == Target::CUDA; }
  /// The given rate; where there is none, half of f32's for f64 and i64 and
  /// f32's for all others.
  double flopsPerSecond(Arithmetic arithmetic) const;
};

/// The kinds that need no definition in the file: "cpu-core", "h200", ...
const std::vector<DeviceKind> &presetKinds();

struct Device {
  std::string name;
  int kind = 0; ///< index into kinds()
  int node = 0; ///< index into nodes()
};

/// A topology that needs no file. It is asked for by its name, or by name, a
/// colon and parameters: "cpu:4", "flexflow-sim:2x4".
struct TopologyPreset {
  std::string name;
  std::string parameters; ///< "NODES", "NODESxDEVICES"
  std::string standard;   ///< what they are unless given: "2x4"
  std::string summary;    ///< one line
};
const std::vector<TopologyPreset> &topologyPresets();

using LinkId = int32_t;

/// One direction of a connection.
struct Link {
  int src = 0, dst = 0; ///< vertices
  double bandwidth = 0; ///< bytes per second, of all its cables together
  Picoseconds latency = 0;
  int cables = 1; ///< parallel ones that it stands for
};

/// A point of the graph. Devices come first, so that vertex i is device i for
/// i < numDevices(). A NIC is two vertices: what comes from its own node leaves
/// by NicOut, what comes from elsewhere enters by NicIn, and so traffic between
/// devices of one node does not turn round in their NIC.
struct Vertex {
  enum class Kind { Device, Switch, NicOut, NicIn };
  Kind kind = Kind::Device;
  std::string name;
  int node = -1; ///< -1: a switch between nodes
};

/// Latency and narrowest bandwidth of the way between two devices. From a
/// device to itself: no latency, no links, and the device's memory bandwidth.
struct RouteCost {
  Picoseconds latency = 0;
  double bandwidth = 0; ///< bytes per second
};
struct Route : RouteCost {
  std::vector<LinkId> links; ///< in travel order
};
/// One of several ways between two devices.
struct SharedRoute : Route {
  double share = 1; ///< of what is sent
};

class Topology {
public:
  /// The preset of that name, or else what the file at that path holds: YAML or
  /// a machine model of FlexFlow, told apart by content. On failure returns
  /// nothing and sets `error` ("FILE:LINE: ...", "PRESET: ..."; what was
  /// expected and what was found).
  static std::optional<Topology> load(const std::string &nameOrPath,
                                      std::string &error);
  /// The same for a file's text; `fileName` stands in messages and, without its
  /// folders and extension, names a topology that does not name itself.
  static std::optional<Topology> parse(const std::string &text,
                                       const std::string &fileName,
                                       std::string &error);

  const std::string &name() const;
  int numDevices() const;
  const Device &device(DeviceId id) const;
  const DeviceKind &kindOf(DeviceId id) const;
  /// Are they CPUs of one node, so that their ranks share memory? At least one.
  bool shareMemory(const std::vector<DeviceId> &devices) const;
  const std::vector<DeviceKind> &kinds() const; ///< those in use
  const std::vector<std::string> &nodes() const;
  const std::vector<Vertex> &vertices() const;
  const std::vector<Link> &links() const;

  /// The way that the file states, of several the one with the largest share,
  /// of those the first. Where it states none: the way with the least latency,
  /// of those the one with the fewest links, of those the one found first in
  /// file order. Routes may pass through devices. Computed on demand, a source
  /// at a time (Dijkstra), and kept.
  Route route(DeviceId src, DeviceId dst) const;
  /// The same without the links; does not allocate once `src` is known.
  RouteCost routeCost(DeviceId src, DeviceId dst) const;
  /// Appends the links of the way, in any order, to `links`.
  void appendLinks(DeviceId src, DeviceId dst,
                   std::vector<LinkId> &links) const;

  /// Does the file state routes, or that messages spread over all shortest ones
  /// (`routing: spread`)? Else those below have one way for each pair.
  bool hasSharedRoutes() const;
  /// All ways with their shares, which add up to 1: as the file states them, or
  /// so many shortest ones that links are loaded as appendLoads says.
  std::vector<SharedRoute> routes(DeviceId src, DeviceId dst) const;
  /// Appends the links of all ways, in any order, none twice, with the share of
  /// what is sent that goes over each. Where messages spread, every vertex
  /// divides what passes through evenly among the links of shortest ways.
  void appendLoads(DeviceId src, DeviceId dst,
                   std::vector<std::pair<LinkId, double>> &loads) const;

  /// The same with devices that all have `bytes` of memory.
  Topology withMemory(int64_t bytes) const;

  /// The topology in its longest form: a file that reads back as this one.
  std::string print() const;
  /// FNV-1a, 64 bits, of print() without the topology's own name, as 16
  /// hexadecimal digits. Equal for all forms that expand to the same graph.
  std::string hash() const;

private:
  friend class TopologyBuilder;
  struct Data;
  explicit Topology(std::shared_ptr<const Data> data);
  std::shared_ptr<const Data> data;
};

} // namespace ffc::plan

#endif // FFC_PLAN_TOPOLOGY_H
