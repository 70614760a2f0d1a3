//===- PlanToRankTest.cpp - devices folded into rank classes --------------===//

#include "ffc/IR/Rank.h"
#include "ffc/Passes/Passes.h"

#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace ffc;
using testing::ElementsAre;

namespace {

// Where states, kernel arguments and locations come from. The graph and the
// program of it are written by hand below.
const char *kSource = R"(
func.func @main(%x: tensor<8x4xf32> {ff.name = "image"}) {
  %w = ff.state "weight" "parameter" init <constant, 1.0 : f64, 0>
      : tensor<8x4xf32>
  %y = ff.unary scale(%x) alpha 0.5 : tensor<8x4xf32> -> tensor<8x4xf32>
      loc("half")
  return
}
)";

enum ValueNumber : plan::ValueId { kX, kW, kY };

/// Three devices. The first two each halve a half of x and swap the results;
/// the third does nothing.
class PlanToRankTest : public testing::Test {
protected:
  PlanToRankTest() {
    context.loadDialect<ff::FFDialect, rank::RankDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(kSource, &context);
    module->walk([&](ff::UnaryOp op) { planned.ops.push_back(op); });

    plan::TensorType type{{8, 4}, plan::ElementType::F32};
    planned.module = *module;
    planned.graph.values.resize(3);
    planned.graph.values[kX] = {"image", type, plan::ValueKind::Input, -1, 0,
                                -1,      {}};
    planned.graph.values[kW] = {"w", type, plan::ValueKind::State, -1, 0,
                                -1,  {}};
    planned.graph.values[kY] = {"y", type, plan::ValueKind::Activation, -1, 0,
                                -1,  {}};
    planned.graph.states.push_back({"weight", kW, -1});
    planned.graph.ops.emplace_back();
    planned.graph.ops[0].name = "half";

    program.devices.resize(3);
    program.groups = {{0, 1}, {0, 1, 2}};
    program.devices[0] = makeDevice(0);
    program.devices[1] = makeDevice(1);
  }

  static plan::Buffer makeBuffer(const std::string &name, plan::ValueId value,
                                 plan::Box box, int64_t offset) {
    plan::Buffer buffer;
    buffer.name = name;
    buffer.value = value;
    buffer.global = {8, 4};
    buffer.region = plan::Region(box);
    buffer.offset = offset;
    buffer.bytes = box.volume() * 4;
    return buffer;
  }

  static plan::DeviceProgram makeDevice(int64_t device) {
    plan::DeviceProgram result;
    plan::Box mine{{4 * device, 4 * device + 4}, {0, 4}};
    plan::Box other{{4 - 4 * device, 8 - 4 * device}, {0, 4}};
    result.buffers = {makeBuffer("x", kX, mine, 0),
                      makeBuffer("y", kY, mine, 64 + 64 * device),
                      makeBuffer("y.other", kY, other, 192),
                      makeBuffer("weight", kW, mine, 0)};
    result.buffers[3].section = plan::Section::State;
    result.inputs = {{kX, 0}};
    result.states = {{0, 3}};
    result.stateBytes = 64;
    result.arenaBytes = 256 + 64 * device;
    result.flops = 16;

    plan::KernelAction kernel;
    kernel.kernel = "unary_forward";
    kernel.ins = {0, -1};
    kernel.outs = {1};
    kernel.tile = mine;

    plan::ExchangeAction exchange;
    exchange.tag = 5;
    exchange.sends = {{static_cast<int>(1 - device), 1}};
    exchange.receives = {{static_cast<int>(1 - device), 2}};

    plan::CopyAction copy;
    copy.dst = 1;
    copy.src = 2;
    copy.dstAt = {device, 0};
    copy.srcAt = {0, 0};
    copy.size = {2, 4};
    copy.combine = plan::Reduction::Sum;

    plan::CollectiveAction reduce;
    reduce.src = 2;
    reduce.combine = plan::Reduction::Max;
    reduce.group = 0;

    const int point = static_cast<int>(device);
    const plan::ReshardTask first{0, 0, {2}};
    result.actions = {{{0, 0, plan::TaskId::Compute{point}}, "", kernel},
                      {first, "", exchange},
                      {first, "", plan::WaitAction{1}},
                      {first.later(1), "", copy},
                      {first.later(2), "", reduce},
                      {first.later(2), "", plan::WaitAction{4}},
                      {{}, "", plan::ProbeAction{"out/y", 1}}};
    return result;
  }

  /// The functions of the lowered program.
  SmallVector<rank::FuncOp> lower() {
    // All devices do one thing after the other.
    program.order.clear();
    size_t most = 0;
    for (const plan::DeviceProgram &device : program.devices)
      most = std::max(most, device.actions.size());
    for (size_t i = 0; i < most; ++i)
      for (size_t d = 0; d < program.devices.size(); ++d)
        if (i < program.devices[d].actions.size())
          program.order.push_back(
              {static_cast<plan::DeviceId>(d), static_cast<int>(i)});
    lowered = lowerToRank(planned, program);
    EXPECT_TRUE(lowered);
    if (!lowered)
      return {};
    return llvm::to_vector(lowered->getOps<rank::FuncOp>());
  }

  template <class Op> static Op firstOf(rank::FuncOp func) {
    return *func.getBody().getOps<Op>().begin();
  }
  static std::vector<std::vector<int64_t>> rowsOf(rank::PerAttr per) {
    std::vector<std::vector<int64_t>> rows;
    for (DenseI64ArrayAttr row : per.getRows())
      rows.emplace_back(row.asArrayRef());
    return rows;
  }
  static std::string nameOf(Value buffer) {
    return buffer.getDefiningOp<rank::BufferOp>().getName().str();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module, lowered;
  PlannedModule planned;
  plan::Program program;
};

TEST_F(PlanToRankTest, FoldsDevicesIntoClasses) {
  auto funcs = lower();
  ASSERT_EQ(funcs.size(), 2u);
  EXPECT_EQ(funcs[0].getSymName(), "class0");
  EXPECT_THAT(funcs[0].getRanks(), ElementsAre(0, 1));
  EXPECT_EQ(funcs[1].getSymName(), "class1");
  EXPECT_THAT(funcs[1].getRanks(), ElementsAre(2));
  for (rank::FuncOp func : funcs) {
    EXPECT_EQ(func.getWorld(), 3u);
    ASSERT_EQ(func.getGroups().size(), 2u);
    EXPECT_THAT(cast<DenseI64ArrayAttr>(func.getGroups()[1]).asArrayRef(),
                ElementsAre(0, 1, 2));
  }
  EXPECT_TRUE(funcs[1].getBody().front().empty());
  EXPECT_THAT(rowsOf(funcs[0].getStateBytes()), ElementsAre(ElementsAre(64)));
  EXPECT_THAT(rowsOf(funcs[0].getArenaBytes()),
              ElementsAre(ElementsAre(256), ElementsAre(320)));
}

TEST_F(PlanToRankTest, WritesRowsWhereDevicesDiffer) {
  rank::FuncOp func = lower()[0];
  auto buffers = llvm::to_vector(func.getBody().getOps<rank::BufferOp>());
  ASSERT_EQ(buffers.size(), 4u);
  EXPECT_THAT(rowsOf(buffers[1].getOffset()),
              ElementsAre(ElementsAre(64), ElementsAre(128)));
  EXPECT_THAT(rowsOf(buffers[2].getOffset()), ElementsAre(ElementsAre(192)));
  EXPECT_THAT(rowsOf(buffers[0].getRegion()),
              ElementsAre(ElementsAre(1, 0, 4, 1, 0, 4),
                          ElementsAre(1, 4, 8, 1, 0, 4)));
  EXPECT_EQ(buffers[3].getSection(), "state");

  auto kernel = firstOf<rank::KernelOp>(func);
  EXPECT_EQ(kernel.getCallee(), "unary_forward");
  EXPECT_EQ(ff::nameOf(kernel.getLoc()), "half");
  EXPECT_EQ(kernel.getArgs(),
            cast<ff::PartitionableInterface>(planned.ops[0]).getKernelArgs());
  EXPECT_EQ(nameOf(kernel.getIns()[0]), "x");
  EXPECT_TRUE(kernel.getIns()[1].getDefiningOp<rank::AbsentOp>());
  EXPECT_EQ(nameOf(kernel.getOuts()[0]), "y");
  EXPECT_THAT(rowsOf(kernel.getTile()),
              ElementsAre(ElementsAre(0, 4, 0, 4), ElementsAre(4, 8, 0, 4)));
  EXPECT_THAT(rowsOf(kernel.getTask()),
              ElementsAre(ElementsAre(0, 0, 0, 0), ElementsAre(0, 0, 1, 0)));

  auto exchange = firstOf<rank::ExchangeOp>(func);
  EXPECT_EQ(exchange.getTag(), 5u);
  EXPECT_THAT(rowsOf(exchange.getSendPeers()),
              ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_EQ(nameOf(exchange.getReceives()[0]), "y.other");
  auto collective = firstOf<rank::CollectiveOp>(func);
  EXPECT_EQ(collective.getKind(), "all_reduce");
  EXPECT_EQ(collective.getReduce(), "max");
  EXPECT_EQ(collective.getSrc(), collective.getDst());
  auto waits = llvm::to_vector(func.getBody().getOps<rank::WaitOp>());
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].getEvent(), exchange.getEvent());
  EXPECT_EQ(waits[1].getEvent(), collective.getEvent());

  auto copy = firstOf<rank::CopyOp>(func);
  EXPECT_EQ(copy.getCombine(), "sum");
  EXPECT_THAT(rowsOf(copy.getDstAt()),
              ElementsAre(ElementsAre(0, 0), ElementsAre(1, 0)));
  EXPECT_EQ(firstOf<rank::ProbeOp>(func).getName(), "out/y");
}

TEST_F(PlanToRankTest, NamesInputsAndStates) {
  rank::FuncOp func = lower()[0];
  EXPECT_EQ(firstOf<rank::InputOp>(func).getName(), "image");
  auto state = firstOf<rank::StateOp>(func);
  EXPECT_EQ(state.getName(), "weight");
  EXPECT_EQ(state.getKind(), "parameter");
  EXPECT_EQ(state.getInit(), "constant");
  EXPECT_EQ(nameOf(state.getBuffer()), "weight");
  EXPECT_TRUE(func.getBody().getOps<rank::LossOp>().empty());
}

TEST_F(PlanToRankTest, NamesTheLossWhereItIs) {
  for (plan::DeviceProgram &device : program.devices) {
    plan::Buffer loss = makeBuffer("loss", kY, {{0, 1}, {0, 1}}, 0);
    device.buffers.push_back(loss);
    device.arenaBytes = 320;
  }
  program.devices[0].loss = program.devices[1].loss = 4;
  auto funcs = lower();
  ASSERT_EQ(funcs.size(), 2u);
  EXPECT_EQ(nameOf(firstOf<rank::LossOp>(funcs[0]).getBuffer()), "loss");
  EXPECT_TRUE(funcs[1].getBody().getOps<rank::LossOp>().empty());
}

TEST_F(PlanToRankTest, HandsOnSymmetricBytes) {
  program.symmetricState = 64;
  program.symmetricArena = 128;
  program.devices[2].stateBytes = 64;
  program.devices[2].arenaBytes = 128;
  for (rank::FuncOp func : lower()) {
    EXPECT_EQ(func.getSymmetricState(), 64u);
    EXPECT_EQ(func.getSymmetricArena(), 128u);
  }
}

TEST_F(PlanToRankTest, SeparatesWhatMustAgree) {
  auto numClasses = [&] { return lower().size(); };
  auto copy = [&]() -> plan::CopyAction & {
    return program.devices[1].actions[3].get<plan::CopyAction>();
  };
  copy().combine = plan::Reduction::None;
  EXPECT_EQ(numClasses(), 3u);
  program.devices[1] = makeDevice(1);
  program.devices[1].buffers[2].name = "y.rest";
  EXPECT_EQ(numClasses(), 3u);
  program.devices[1] = makeDevice(1);
  program.devices[1].actions.pop_back();
  EXPECT_EQ(numClasses(), 3u);
  program.devices[1] = makeDevice(1);
  program.devices[1].buffers[1].region = plan::Region(plan::Box(2));
  copy().size = {0, 0};
  copy().dstAt = {0, 0};
  EXPECT_EQ(numClasses(), 2u);
}

} // namespace
