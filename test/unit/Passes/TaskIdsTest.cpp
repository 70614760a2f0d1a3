//===- TaskIdsTest.cpp - the same tasks in plan, `rank` and program -------===//
//
// The simulator times the actions of plan::Program. The ranks' functions must
// have the same tasks in the same order, and the text the same kernels and
// messages, by the names and tags that a running program reports.
//
//===----------------------------------------------------------------------===//

#include "ffc/Codegen/EmitProgram.h"
#include "ffc/Codegen/ProgramReader.h"
#include "ffc/IR/Rank.h"
#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Simulation.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"

#include <regex>

using namespace mlir;
using namespace ffc;

namespace {

constexpr int kDevices = 4;

std::string idText(const plan::TaskNumbers &task) {
  return std::to_string(task.op) + "#" + std::to_string(task.phase) + "@" +
         std::to_string(task.point) + "." + std::to_string(task.instance);
}

/// "kernel 3#0@1.0" for every action that is a task.
std::vector<std::string> tasksOf(const plan::DeviceProgram &device) {
  std::vector<std::string> tasks;
  for (const plan::Action &action : device.actions)
    if (plan::isTask(action))
      tasks.push_back(plan::kindOf(action) +
                      (" " + idText(plan::numbersOf(action.task))));
  return tasks;
}

/// The same of rank number `index` of a function.
std::vector<std::string> tasksOf(rank::FuncOp func, size_t index) {
  std::vector<std::string> tasks;
  auto add = [&](const char *kind, rank::PerAttr per) {
    ArrayRef<DenseI64ArrayAttr> rows = per.getRows();
    ArrayRef<int64_t> row = rows[rows.size() == 1 ? 0 : index].asArrayRef();
    tasks.push_back(kind + (" " + idText({static_cast<plan::OpId>(row[0]),
                                          static_cast<int>(row[1]),
                                          static_cast<int>(row[2]),
                                          static_cast<int>(row[3])})));
  };
  for (Operation &op : func.getBody().front())
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](rank::KernelOp op) { add("kernel", op.getTask()); })
        .Case([&](rank::CopyOp op) { add("copy", op.getTask()); })
        .Case([&](rank::ExchangeOp op) { add("exchange", op.getTask()); })
        .Case([&](rank::CollectiveOp op) { add("collective", op.getTask()); });
  return tasks;
}

/// "exchange \"fc2 <- x\" tag 3" and "all_reduce \"loss\"" for what a device
/// communicates, with the task before it: "fc2#0@3.1 ".
std::vector<std::string> listedTasks(const plan::DeviceProgram &device,
                                     const plan::Graph &graph) {
  static const char *const collectives[] = {"all_reduce", "all_gather",
                                            "reduce_scatter", "broadcast"};
  std::vector<std::string> tasks;
  for (const plan::Action &action : device.actions) {
    if (!plan::isTask(action))
      continue;
    std::string task = str(action.task, graph);
    const size_t end = task.rfind('#');
    task = "\"" + task.substr(0, end) + "\"" + task.substr(end) + " ";
    const plan::OpId op = action.task.op;
    const std::string name = op >= 0 ? graph.op(op).name : action.name;
    const std::string transfer =
        " \"" + (name == action.name ? name : name + " <- " + action.name) +
        "\"";
    if (action.is<plan::KernelAction>())
      task += "kernel";
    if (action.is<plan::CopyAction>())
      task += "copy";
    if (const auto *exchange = action.as<plan::ExchangeAction>())
      task += "exchange" + transfer + " tag " + std::to_string(exchange->tag);
    if (const auto *collective = action.as<plan::CollectiveAction>())
      task += collectives[static_cast<int>(collective->kind)] + transfer;
    tasks.push_back(task);
  }
  return tasks;
}

/// The same of the lines that a rank of the text does.
std::vector<std::string> listedTasks(const codegen::RankActions &rank) {
  static const std::regex task(
      R"re(\d+ ("[^"]*"#\S+ )(exchange "[^"]*" tag \d+|(all_|reduce_|broadcast)\w* "[^"]*"|\w+).*)re");
  std::vector<std::string> tasks;
  for (const std::string &line : rank.step) {
    std::smatch match;
    if (!std::regex_match(line, match, task))
      continue;
    std::string what = match[2];
    if (std::isupper(what.front()))
      what = "kernel";
    else if (what == "replace" || what == "add" || what == "maximum")
      what = "copy";
    tasks.push_back(match[1].str() + what);
  }
  return tasks;
}

class TaskIds : public ::testing::TestWithParam<const char *> {};

TEST_P(TaskIds, AgreeInPlanRankAndText) {
  MLIRContext context;
  context
      .loadDialect<ff::FFDialect, rank::RankDialect, mlir::func::FuncDialect>();
  auto module =
      importModel(context, std::string(FFC_TEST_MODELS) + "/" + GetParam(), {});
  ASSERT_TRUE(module);
  PassManager passes(&context);
  addRecognition(passes);
  addTraining(passes, {});
  ASSERT_TRUE(succeeded(passes.run(*module)));
  auto planned = buildPlanGraph(*module);
  ASSERT_TRUE(succeeded(planned));
  std::string error;
  auto topology = plan::Topology::parse(
      "devices: 4 x cpu-core\ninterconnect:\n  type: shared-memory\n"
      "  bandwidth: 10 GB/s\n  latency: 1 us\n",
      "test.yaml", error);
  ASSERT_TRUE(topology) << error;
  plan::CostModel cost(*topology);
  unsigned seed = 11;
  std::mt19937 random(seed);
  for (int trial = 0; trial < 10; ++trial) {
    plan::Strategy strategy =
        plan::randomStrategy(planned->graph, kDevices, random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " +
                 std::to_string(trial));
    plan::Program program =
        plan::planProgram(planned->graph, strategy, kDevices, cost);
    auto ranks = lowerToRank(*planned, program);
    ASSERT_TRUE(ranks);
    auto files = codegen::emitProgram(*ranks, {});
    ASSERT_TRUE(succeeded(files));
    auto text = codegen::readProgram((*files)[0], (*files)[1]);
    ASSERT_TRUE(static_cast<bool>(text)) << toString(text.takeError());
    for (auto func : ranks->getOps<rank::FuncOp>())
      for (auto [i, device] : llvm::enumerate(func.getRanks())) {
        EXPECT_EQ(tasksOf(func, i), tasksOf(program.devices[device]));
        EXPECT_EQ(listedTasks((*text)[device]),
                  listedTasks(program.devices[device], planned->graph));
      }
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TaskIds,
                         ::testing::Values("mlp-small.onnxtxt",
                                           "lenet-small.onnxtxt",
                                           "attention-small.onnxtxt"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find('-'));
                         });

} // namespace
