//===- PartitionTest.cpp - tiles computed apart equal the whole -----------===//
//
// For random legal configurations, each tile is computed from exactly the parts
// that the rules say it reads; what it writes is combined as the rules say.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"
#include "ffc/Plan/RandomStrategy.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <set>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::ff::testing;

namespace {

/// The planner's view of one operator.
plan::Graph graphOf(PartitionableInterface op) {
  plan::Graph graph;
  plan::Op node;
  node.name = describe(op);
  node.rules = op.getRules();
  auto add = [&](Type type, bool isResult) {
    plan::Value value;
    value.type = tensorTypeOf(type);
    value.producer = isResult ? 0 : -1;
    graph.values.push_back(value);
    return static_cast<plan::ValueId>(graph.values.size() - 1);
  };
  for (Value operand : op.getOperandSlots())
    node.operands.push_back(operand ? add(operand.getType(), false) : -1);
  for (Value result : op.getResultSlots())
    node.results.push_back(result ? add(result.getType(), true) : -1);
  graph.ops.push_back(std::move(node));
  return graph;
}

bool isAbsentResult(const plan::Graph &graph, int slot) {
  const plan::Op &op = graph.op(0);
  size_t result = slot - op.operands.size();
  return result < op.results.size() && op.results[result] < 0;
}

/// A whole tensor that tiles read and write parts of.
struct Whole {
  bool present = false;
  TensorValue value;
  std::vector<bool> written;

  template <class Body> void forEach(const plan::Region &region, Body body) {
    View view(value.data.data(), plan::Region(plan::Box::whole(value.shape)),
              value.shape);
    for (const plan::Region::Piece &piece : region.pieces())
      forEachIndex(piece.box, [&](ArrayRef<int64_t> index) {
        double &element = view.at(index);
        body(index, element, &element - value.data.data());
      });
  }
};

/// A part of a tensor, held as a rank would. Whatever is not filled is NaN.
struct Part {
  std::vector<double> data;
  View view;

  Part(const plan::Region &region, const plan::Shape &global)
      : data(region.volume() + 1, std::numeric_limits<double>::quiet_NaN()),
        view(data.data(), region, global) {}
};

class PartitionedOperator {
public:
  PartitionedOperator(const Examples &examples, PartitionableInterface op)
      : examples(examples), op(op), graph(graphOf(op)) {}

  const plan::Graph &planGraph() const { return graph; }
  const plan::OpRules &rules() const { return graph.op(0).rules; }

  void check(const plan::Configuration &config) {
    start();
    std::set<plan::Tile> tiles; // replicas compute the same
    for (int64_t point = 0; point < config.numPoints(); ++point)
      tiles.insert(config.tileOf(rules(), point));
    for (const plan::Phase &phase : plan::scheduleFor(rules(), config).phases) {
      for (const plan::SlotWrite &write : phase.writes)
        clear(slots[write.slot], write.reduction);
      for (const plan::Tile &tile : tiles) {
        SCOPED_TRACE("tile " + tile.str());
        run(phase, tile);
      }
    }
    size_t slot = op.getOperandSlots().size();
    for (Value result : op.getResultSlots()) {
      if (result)
        compare(result, slots[slot]);
      ++slot;
    }
  }

private:
  /// Operands hold their values, results and internal tensors nothing.
  void start() {
    slots.clear();
    for (const TensorValue *operand : examples.operandsOf(op))
      slots.push_back(operand ? Whole{true, *operand, {}} : Whole());
    auto add = [&](const plan::Shape &shape) {
      TensorValue value{shape, std::vector<double>(plan::numElements(shape))};
      slots.push_back({true, std::move(value), {}});
    };
    for (Value result : op.getResultSlots()) {
      if (result)
        add(tensorTypeOf(result.getType()).shape);
      else
        slots.emplace_back();
    }
    for (const plan::TensorType &type : rules().internals)
      add(type.shape);
  }

  static void clear(Whole &whole, plan::Reduction reduction) {
    double neutral = reduction == plan::Reduction::Max
                         ? -std::numeric_limits<double>::infinity()
                         : 0;
    whole.written.assign(whole.value.data.size(), false);
    std::fill(whole.value.data.begin(), whole.value.data.end(), neutral);
  }

  plan::Region regionOf(const plan::Access &access, const Whole &whole,
                        const plan::Tile &tile) const {
    return plan::regionOf(access, rules().dims, tile, whole.value.shape);
  }

  void run(const plan::Phase &phase, const plan::Tile &tile) {
    std::vector<std::unique_ptr<Part>> parts;
    std::vector<View> ins, outs;
    for (const plan::SlotRead &read : phase.reads) {
      Whole &whole = slots[read.slot];
      if (!whole.present) {
        ins.emplace_back();
        continue;
      }
      plan::Region region = regionOf(read.access, whole, tile);
      parts.push_back(std::make_unique<Part>(region, whole.value.shape));
      whole.forEach(region, [&](ArrayRef<int64_t> index, double element, auto) {
        parts.back()->view.at(index) = element;
      });
      ins.push_back(parts.back()->view);
    }
    for (const plan::SlotWrite &write : phase.writes) {
      const Whole &whole = slots[write.slot];
      if (!whole.present) {
        outs.emplace_back();
        continue;
      }
      parts.push_back(std::make_unique<Part>(
          regionOf(write.access, whole, tile), whole.value.shape));
      outs.push_back(parts.back()->view);
    }
    ReferenceKernel kernel = lookupReference(phase.kernel);
    ASSERT_TRUE(kernel) << phase.kernel;
    kernel(
        {examples.reference(), op.getPhaseArgs(phase.kind), tile, ins, outs});
    for (size_t i = 0; i < ins.size(); ++i)
      EXPECT_EQ(ins[i].fault(), "")
          << "operand " << i << ", read " << ins[i].region().str();
    for (size_t i = 0; i < outs.size(); ++i) {
      if (!outs[i].present())
        continue;
      EXPECT_EQ(outs[i].fault(), "") << "result " << i;
      if (!isLaterCopy(phase.writes[i], tile))
        combine(phase.writes[i], outs[i]);
    }
  }

  /// Of copies of partial values the first one counts.
  static bool isLaterCopy(const plan::SlotWrite &write,
                          const plan::Tile &tile) {
    return llvm::any_of(write.copiedAlong,
                        [&](int dim) { return tile[dim].lo > 0; });
  }

  void combine(const plan::SlotWrite &write, const View &part) {
    Whole &whole = slots[write.slot];
    whole.forEach(part.region(), [&](ArrayRef<int64_t> index, double &element,
                                     int64_t number) {
      double value = part.at(index);
      switch (write.reduction) {
      case plan::Reduction::Sum:
        element += value;
        break;
      case plan::Reduction::Max:
        element = std::max(element, value);
        break;
      case plan::Reduction::None:
        if (whole.written[number]) {
          EXPECT_EQ(element, value) << "copies differ at " << number;
        }
        element = value;
        break;
      }
      whole.written[number] = true;
    });
  }

  void compare(Value result, const Whole &whole) {
    const TensorValue &expected = examples.valueOf(result);
    for (size_t i = 0; i < expected.data.size(); ++i) {
      SCOPED_TRACE("element " + std::to_string(i));
      ASSERT_TRUE(whole.written[i]);
      double value = expected.data[i];
      if (std::isinf(value) && value == whole.value.data[i])
        continue;
      ASSERT_NEAR(whole.value.data[i], value,
                  1e-12 * std::max(1.0, std::abs(value)));
    }
  }

  const Examples &examples;
  PartitionableInterface op;
  plan::Graph graph;
  std::vector<Whole> slots;
};

TEST(OperatorExamples, TilesCombineToTheWhole) {
  const unsigned seed = 20261121;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Examples examples;
  ASSERT_TRUE(examples.isGood());
  int splits = 0;
  for (PartitionableInterface op : examples.operators()) {
    SCOPED_TRACE(describe(op));
    PartitionedOperator partitioned(examples, op);
    for (int i = 0; i < 40; ++i) {
      plan::Configuration config = plan::randomConfiguration(
          partitioned.planGraph(), 0, /*numDevices=*/8, random);
      SCOPED_TRACE(config.str(partitioned.rules()));
      partitioned.check(config);
      splits += config.numPoints() > 1;
      if (HasFatalFailure())
        return;
    }
  }
  RecordProperty("splits", splits);
}

/// Each dimension alone at its largest degree: single rows, columns, channels.
TEST(OperatorExamples, ThinnestTilesCombineToTheWhole) {
  Examples examples;
  ASSERT_TRUE(examples.isGood());
  for (PartitionableInterface op : examples.operators()) {
    SCOPED_TRACE(describe(op));
    PartitionedOperator partitioned(examples, op);
    for (size_t d = 0; d < partitioned.rules().dims.size(); ++d) {
      plan::Configuration config;
      int64_t degree = plan::maxDegree(partitioned.rules().dims[d]);
      config.axes = {{static_cast<int>(d), degree}};
      config.devices.assign(degree, 0);
      if (plan::checkConfiguration(partitioned.planGraph(), 0, config, 1))
        continue;
      SCOPED_TRACE(config.str(partitioned.rules()));
      partitioned.check(config);
      if (HasFatalFailure())
        return;
    }
  }
}

TEST(OperatorExamples, RulesAreWellFormed) {
  Examples examples;
  ASSERT_TRUE(examples.isGood());
  for (PartitionableInterface op : examples.operators()) {
    SCOPED_TRACE(describe(op));
    EXPECT_FALSE(op.getFamily().empty());
    for (NamedAttribute arg : op.getKernelArgs())
      EXPECT_TRUE((isa<IntegerAttr, FloatAttr, StringAttr, DenseI64ArrayAttr,
                       DenseF64ArrayAttr>(arg.getValue())))
          << arg.getName().str();
    plan::Graph graph = graphOf(op);
    const plan::OpRules &rules = graph.op(0).rules;
    std::set<std::string> names;
    for (const plan::IterDim &dim : rules.dims) {
      EXPECT_GE(dim.extent, 1) << dim.name;
      EXPECT_TRUE(names.insert(dim.name).second) << dim.name << " twice";
    }
    ASSERT_FALSE(rules.schedules.empty());
    for (const plan::Schedule &schedule : rules.schedules)
      for (const plan::Phase &phase : schedule.phases)
        for (const plan::SlotWrite &write : phase.writes)
          if (!isAbsentResult(graph, write.slot)) {
            EXPECT_EQ(write.access.dims.size(),
                      graph.slotType(0, write.slot).shape.size());
          }
  }
}

} // namespace
