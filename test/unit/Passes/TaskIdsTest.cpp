//===- TaskIdsTest.cpp - the same tasks in plan, `rank` and program -------===//
//
// The simulator times the actions of plan::Program. The ranks' functions must
// have the same tasks in the same order, and the text the same kernels and
// messages, by the names and tags that a running program reports.
//
//===----------------------------------------------------------------------===//

#include "ffc/Codegen/EmitProgram.h"
#include "ffc/IR/Rank.h"
#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Simulation.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>
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

/// "exchange(\"fc2 <- x\", /*tag=*/3" and "all_reduce(\"loss\"" for every
/// message of a device.
std::vector<std::string> messagesOf(const plan::DeviceProgram &device,
                                    const plan::Graph &graph) {
  static const char *const collectives[] = {"all_reduce", "all_gather",
                                            "reduce_scatter", "broadcast"};
  std::vector<std::string> messages;
  for (const plan::Action &action : device.actions) {
    if (!plan::isCommunication(action))
      continue;
    plan::OpId op = action.task.op;
    std::string name = op >= 0 ? graph.op(op).name : action.name;
    std::string label =
        name == action.name ? name : name + " <- " + action.name;
    if (const auto *exchange = action.as<plan::ExchangeAction>())
      messages.push_back("exchange(\"" + label + "\", /*tag=*/" +
                         std::to_string(exchange->tag));
    if (const auto *collective = action.as<plan::CollectiveAction>())
      messages.push_back(collectives[static_cast<int>(collective->kind)] +
                         ("(\"" + label + "\""));
  }
  return messages;
}

/// The same of the text of a class.
std::vector<std::string> messagesOf(const std::string &text) {
  static const std::regex call(
      R"re(comm\.(exchange\("[^"]*",\s+/\*tag=\*/\d+|\w+\("[^"]*"))re");
  static const std::regex space(R"(\s+)");
  std::vector<std::string> messages;
  for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end;
       ++it)
    messages.push_back(std::regex_replace((*it)[1].str(), space, " "));
  return messages;
}

/// The words between commas.
std::vector<std::string> wordsOf(const std::string &list) {
  static const std::regex word(R"([^,\s]+)");
  return {std::sregex_token_iterator(list.begin(), list.end(), word), {}};
}

/// What `pattern` encloses where it matches first; empty: nowhere.
std::string inside(const std::string &text, const std::string &pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str()
                                                             : "";
}

/// "conv2#0@3.1" for the tasks that a program lists for its trace, in which
/// numbers may stand in the rank's row of the class's table.
std::vector<std::string>
listedTasks(const std::vector<codegen::SourceFile> &files,
            const std::string &className, int64_t rank) {
  std::map<std::string, std::string> row;
  // The fields of the row, without comments and types.
  std::string fields =
      inside(files[0].contents, "struct " + className + R"(Row \{([^}]*)\})");
  static const std::regex field(R"((\w+);)");
  std::vector<std::string> names(
      std::sregex_token_iterator(fields.begin(), fields.end(), field, 1), {});
  std::string rows =
      inside(files[1].contents, "const " + className + R"(Row ([^;]*);)");
  std::vector<std::string> values = wordsOf(
      inside(rows, R"(rank )" + std::to_string(rank) + R"( \*/ \{([^}]*)\})"));
  EXPECT_EQ(names.size(), values.size());
  for (size_t i = 0; i < std::min(names.size(), values.size()); ++i)
    row["my." + names[i]] = values[i];

  std::string list =
      inside(files[2].contents, className + R"(::tasks\(\) \{([^;]*);)");
  static const std::regex entry(
      R"re(\{"([^"]*)",\s+([^,]*),\s+([^,]*),\s+([^,}]*)\})re");
  std::vector<std::string> tasks;
  for (std::sregex_iterator it(list.begin(), list.end(), entry), end; it != end;
       ++it) {
    auto number = [&](int group) {
      std::string word = (*it)[group];
      return row.count(word) ? row[word] : word;
    };
    tasks.push_back((*it)[1].str() + "#" + number(2) + "@" + number(3) + "." +
                    number(4));
  }
  return tasks;
}

/// The same of a planned device.
std::vector<std::string> listedTasks(const plan::DeviceProgram &device,
                                     const plan::Graph &graph) {
  std::vector<std::string> tasks;
  for (const plan::Action &action : device.actions)
    if (plan::isTask(action))
      tasks.push_back(str(action.task, graph));
  return tasks;
}

size_t count(StringRef text, StringRef part) { return text.count(part); }

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
    StringRef text = files->front().contents;
    for (auto func : ranks->getOps<rank::FuncOp>()) {
      std::string className = ("C" + func.getSymName().drop_front()).str();
      for (auto [i, device] : llvm::enumerate(func.getRanks())) {
        EXPECT_EQ(tasksOf(func, i), tasksOf(program.devices[device]));
        EXPECT_EQ(listedTasks(*files, className, device),
                  listedTasks(program.devices[device], planned->graph));
      }
      // "class0" is printed as "class Class0 final".
      StringRef body = text.substr(text.find("class " + className + " final"));
      std::string own = body.substr(0, body.find("\nclass ")).str();
      const plan::DeviceProgram &first =
          program.devices[func.getRanks().front()];
      EXPECT_THAT(messagesOf(own), ::testing::UnorderedElementsAreArray(
                                       messagesOf(first, planned->graph)));
      auto isKernel = [](const plan::Action &action) {
        return action.is<plan::KernelAction>();
      };
      EXPECT_EQ(count(own, "{cx, ") + count(own, "{cx,\n"),
                static_cast<size_t>(llvm::count_if(first.actions, isKernel)));
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
