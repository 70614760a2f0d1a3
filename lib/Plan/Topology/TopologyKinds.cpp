//===- TopologyKinds.cpp - device kinds and the ones that come along ------===//

#include "Text/Text.h"
#include "Text/YamlFields.h"
#include "TopologyReaders.h"

#include <cmath>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

/// The kinds that need no definition, in the syntax of a topology file. Figures
/// of GPUs are the vendor's nominal dense ones (data sheets), of which kernels
/// reach what Reached.h says of their generation; launch overheads, between
/// kernels of one CUDA graph or, for older devices, between kernels of a
/// stream, are estimates. docs/topology.md says which figures are measured.
static const char *const kPresetKinds = R"(
# A Zen 5 class core with AVX-512: what oneDNN reaches in matrix products, not
# the 245 GFLOP/s that FMAs peak at, and half of the streaming copy of two busy
# cores.
cpu-core:
  target: cpu
  flops: {f64: 110 GFLOP/s, f32: 220 GFLOP/s, bf16: 460 GFLOP/s}
  memory: {size: 8 GB, bandwidth: 38 GB/s}
  launch: 200 ns
  overlap: false
# NVIDIA B200 of an HGX board: an eighth of its figures, those of tensor cores
# without sparsity. f64 and f32 have one rate each.
b200:
  target: cuda
  generation: blackwell
  flops: {f64: 37 TFLOP/s, f32: 75 TFLOP/s, tf32: 1125 TFLOP/s,
          bf16: 2250 TFLOP/s, f16: 2250 TFLOP/s, i8: 4500 TFLOP/s}
  memory: {size: 180 GB, bandwidth: 7.7 TB/s}
  launch: 1.5 us
  overlap: true
# NVIDIA H200 SXM; f64 by tensor cores.
h200:
  target: cuda
  generation: hopper
  flops: {f64: 67 TFLOP/s, f32: 67 TFLOP/s, tf32: 494 TFLOP/s,
          bf16: 989 TFLOP/s, f16: 989 TFLOP/s, i8: 1979 TFLOP/s}
  memory: {size: 141 GB, bandwidth: 4.8 TB/s}
  launch: 1.5 us
  overlap: true
# NVIDIA H100 SXM: the same chip with less memory.
h100: {like: h200, memory: {size: 80 GB, bandwidth: 3.35 TB/s}}
# NVIDIA A100 40 GB; f64 by tensor cores.
a100:
  target: cuda
  generation: ampere
  flops: {f64: 19.5 TFLOP/s, f32: 19.5 TFLOP/s, tf32: 156 TFLOP/s,
          bf16: 312 TFLOP/s, f16: 312 TFLOP/s, i8: 624 TFLOP/s}
  memory: {size: 40 GB, bandwidth: 1555 GB/s}
  launch: 2 us
  overlap: true
# NVIDIA V100 SXM2 16 GB; f16 by tensor cores.
v100:
  target: cuda
  generation: volta
  flops: {f64: 7.8 TFLOP/s, f32: 15.7 TFLOP/s, f16: 125 TFLOP/s}
  memory: {size: 16 GB, bandwidth: 900 GB/s}
  launch: 3 us
  overlap: true
# NVIDIA P100 SXM2.
p100:
  target: cuda
  flops: {f64: 5.3 TFLOP/s, f32: 10.6 TFLOP/s, f16: 21.2 TFLOP/s}
  memory: {size: 16 GB, bandwidth: 732 GB/s}
  launch: 5 us
  overlap: true
# One of the two GPUs of an NVIDIA K80, at its boost clock: half of the board's
# figures.
k80:
  target: cuda
  flops: {f64: 1.455 TFLOP/s, f32: 4.365 TFLOP/s}
  memory: {size: 12 GB, bandwidth: 240 GB/s}
  launch: 5 us
  overlap: true
# The device of FlexFlow's scripts/simulator.cc with the stub costs by which it
# runs without a GPU: a roofline of 4 TFLOP/s and 500 GB/s and 20 us for every
# kernel. It refuses operators over 7 GB.
flexflow-sim:
  target: cuda
  flops: {f32: 4 TFLOP/s}
  memory: {size: 7 GB, bandwidth: 500 GB/s}
  launch: 20 us
  overlap: true
)";

static GpuGeneration readGeneration(const YamlNode &node,
                                    const std::string &what) {
  const std::string &name = text(node, "the name of a generation");
  std::vector<std::string> names;
  for (int i = 0; i < kNumGpuGenerations; ++i) {
    const auto generation = static_cast<GpuGeneration>(i);
    if (name == str(generation))
      return generation;
    names.push_back(str(generation));
  }
  fail(node, "generation of " + what + ": expected one of: " + joined(names) +
                 ", found " + quoted(name));
}

static void readKind(const std::string &name, const YamlNode &map,
                     TopologyBuilder &builder) {
  const std::string what = "the kind " + quoted(name);
  expectMap(
      map, what,
      {"like", "target", "generation", "flops", "memory", "launch", "overlap"});
  DeviceKind kind;
  const YamlNode *like = map.find("like");
  if (like)
    kind = builder.kind(
        builder.findKind(like->line, text(*like, "the name of a kind")));
  kind.name = name;
  // A kind that is like another one may leave out any key.
  auto given = [&](const std::string &key) {
    return like ? map.find(key) : &require(map, key, what);
  };
  if (const YamlNode *node = given("target")) {
    const std::string &target = text(*node, "'cpu' or 'cuda'");
    if (target != "cpu" && target != "cuda")
      fail(*node, "target of " + what + ": expected 'cpu' or 'cuda', found " +
                      quoted(target));
    kind.target = target == "cpu" ? Target::CPU : Target::CUDA;
  }
  if (kind.target == Target::CPU)
    kind.generation = GpuGeneration::None; // whatever it is like
  if (const YamlNode *node = map.find("generation")) {
    kind.generation = readGeneration(*node, what);
    if (kind.target == Target::CPU && kind.generation != GpuGeneration::None)
      fail(*node, what + ": expected the target cuda beside the generation " +
                      str(kind.generation) + ", found cpu");
  }
  if (const YamlNode *node = given("flops")) {
    std::vector<std::string> names;
    for (int i = 0; i < kNumArithmetics; ++i)
      names.push_back(str(static_cast<Arithmetic>(i)));
    expectMap(*node, "flops of " + what, names);
    for (int i = 0; i < kNumArithmetics; ++i)
      if (const YamlNode *rate = node->find(names[i]))
        kind.flops[i] = positive(*rate, QuantityKind::FlopsPerSecond,
                                 names[i] + " flops of " + what);
    if (!like)
      require(*node, "f32", "flops of " + what);
  }
  if (const YamlNode *node = given("memory")) {
    const std::string memory = "memory of " + what;
    expectMap(*node, memory, {"size", "bandwidth"});
    const YamlNode *size =
        like ? node->find("size") : &require(*node, "size", memory);
    if (size)
      kind.memoryBytes = std::llround(
          positive(*size, QuantityKind::Bytes, "size of the " + memory));
    const YamlNode *bandwidth =
        like ? node->find("bandwidth") : &require(*node, "bandwidth", memory);
    if (bandwidth)
      kind.memoryBandwidth = positive(*bandwidth, QuantityKind::BytesPerSecond,
                                      "bandwidth of the " + memory);
  }
  if (const YamlNode *node = given("launch"))
    kind.launch = delay(*node, "launch of " + what);
  if (const YamlNode *node = given("overlap")) {
    const std::string &overlap = text(*node, "'true' or 'false'");
    if (overlap != "true" && overlap != "false")
      fail(*node, "overlap of " + what +
                      ": expected 'true' or 'false', found " + quoted(overlap));
    kind.overlap = overlap == "true";
  }
  builder.defineKind(map.line, std::move(kind));
}

void ffc::plan::readKinds(const YamlNode &map, TopologyBuilder &builder) {
  if (!map.isMap())
    fail(map, "expected kinds to be a map from names to kinds, found " +
                  map.describe());
  for (size_t i = 0; i < map.children.size(); i += 2)
    readKind(map.children[i].scalar, map.children[i + 1], builder);
}

const std::vector<DeviceKind> &ffc::plan::presetKinds() {
  static const std::vector<DeviceKind> kinds = [] {
    const YamlNode map = parseYaml(kPresetKinds);
    TopologyBuilder builder;
    readKinds(map, builder);
    std::vector<DeviceKind> kinds;
    for (size_t i = 0; i < map.children.size(); i += 2)
      kinds.push_back(
          builder.kind(builder.findKind(0, map.children[i].scalar)));
    return kinds;
  }();
  return kinds;
}
