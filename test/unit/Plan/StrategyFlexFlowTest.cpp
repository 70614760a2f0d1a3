//===- StrategyFlexFlowTest.cpp - strategies in FlexFlow's forms ----------===//

#include "AlexNetGraph.h"
#include "ffc/Plan/StrategyFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace ffc::plan;
using ffc::plan::testing::addOp;
using ffc::plan::testing::alexNet;
using ffc::plan::testing::drawStrategy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

std::vector<std::string> read(const Graph &graph, const std::string &text,
                              int numDevices = 4) {
  return ffc::plan::testing::read(graph, text, "s.txt", numDevices);
}

std::string errorOf(const std::string &text) {
  return ffc::plan::testing::errorOf(text, "s.txt");
}

/// The whole of a text form file with one operator.
std::string op(const std::string &name, const std::string &numbers) {
  return "1\n" + name + "\n" + numbers + "\n";
}

std::vector<std::string> readOp(const std::string &name,
                                const std::string &numbers) {
  return read(alexNet(), op(name, numbers));
}

// data/strategies/dlrm-autotune-4gpu.txt, byte for byte.
const char *const kDlrm =
    R"([Dense_100] num_dims(2) dims[1,4] device_ids[0,1,2,3]
[Dense_101] num_dims(2) dims[1,4] device_ids[0,1,2,3]
[Dense_102] num_dims(2) dims[1,4] device_ids[0,1,2,3]
[Embedding_103] num_dims(2) dims[1,1] device_ids[3]
[Embedding_104] num_dims(2) dims[1,1] device_ids[2]
[Embedding_105] num_dims(2) dims[1,1] device_ids[2]
[Embedding_106] num_dims(2) dims[1,1] device_ids[0]
[Embedding_107] num_dims(2) dims[1,1] device_ids[1]
[Embedding_108] num_dims(2) dims[1,1] device_ids[1]
[Embedding_109] num_dims(2) dims[1,1] device_ids[3]
[Embedding_110] num_dims(2) dims[1,1] device_ids[0]
[Concat-111] num_dims(2) dims[1,4] device_ids[0,1,2,3]
[Dense_112] num_dims(2) dims[1,4] device_ids[0,1,2,3]
[Dense_113] num_dims(2) dims[1,4] device_ids[0,1,2,3]
[Dense_114] num_dims(2) dims[1,4] device_ids[0,1,2,3]
[Dense_115] num_dims(2) dims[1,4] device_ids[0,1,2,3]
)";

/// Tables before the bottom layers, and activations that FlexFlow's layers
/// hold: names fit by type and order only.
Graph dlrm(int numTables = 8) {
  Graph graph;
  auto dense = [&](const std::string &name) {
    addOp(graph, name, "linear", {{"n", 8}, {"c", 4}, {"k", 4, false}});
    addOp(graph, name + ".relu", "relu", {{"n", 8}, {"c", 4}});
  };
  for (int i = 0; i < numTables; ++i)
    addOp(graph, "table" + std::to_string(i), "embedding",
          {{"n", 8}, {"h", 1}, {"c", 4}});
  for (int i = 0; i < 3; ++i)
    dense("bottom" + std::to_string(i));
  addOp(graph, "join", "concat", {{"n", 8}, {"c", 36}});
  for (int i = 0; i < 4; ++i)
    dense("top" + std::to_string(i));
  addOp(graph, "loss", "mse", {{"n", 8, false}, {"c", 4, false}}).role =
      OpRole::Loss;
  return graph;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

TEST(StrategyFlexFlow, DlrmOfTheAutotuneTutorial) {
  const std::string sample = " {n = 4} on 0 1 2 3";
  EXPECT_THAT(read(dlrm(), kDlrm),
              ElementsAre("table0 {} on 3", "table1 {} on 2", "table2 {} on 2",
                          "table3 {} on 0", "table4 {} on 1", "table5 {} on 1",
                          "table6 {} on 3", "table7 {} on 0",
                          "bottom0" + sample, "bottom1" + sample,
                          "bottom2" + sample, "join" + sample, "top0" + sample,
                          "top1" + sample, "top2" + sample, "top3" + sample));
  EXPECT_THAT(read(dlrm(7), kDlrm),
              ElementsAre("s.txt:11: 'Embedding_110': the file has 8 operators "
                          "of type Embedding, expected at most as many as the "
                          "model has (embedding), 7"));
}

TEST(StrategyFlexFlow, NamesShared) {
  // What FlexFlow's generators of DLRM strategies write.
  const std::string text = "5\nembedding0 0 2 1 1 1 3\nembedding1 0 2 1 1 1 2\n"
                           "concat 0 2 1 2 2 0 2\nlinear 0 2 1 4 4 0 1 2 3\n"
                           "mse_loss 0 2 1 4 4 0 1 2 3\n";
  const auto lines = read(dlrm(), text);
  ASSERT_EQ(lines.size(), 2 + 1 + 7 + 1u) << lines[0];
  EXPECT_EQ(lines[0], "table0 {} on 3");
  EXPECT_EQ(lines[1], "table1 {} on 2");
  EXPECT_EQ(lines[2], "bottom0 {n = 4} on 0 1 2 3");
  EXPECT_EQ(lines[5], "join {n = 2} on 0 2");
  EXPECT_EQ(lines[10], "loss {n = 4} on 0 1 2 3");
}

TEST(StrategyFlexFlow, NamesInOrderOfTheirNumbers) {
  // Text files are sorted by name: 1000 stands before 999.
  EXPECT_THAT(
      read(alexNet(), "2\nDense_1000 0 2 1 1 1 2\nDense_999 0 2 1 1 1 1\n"),
      ElementsAre("fc6 {} on 1", "fc7 {} on 2"));
  // Numbers that fit our own operators mean just these.
  EXPECT_THAT(readOp("Dense_107", "0 2 1 1 1 2"), ElementsAre("fc7 {} on 2"));
  EXPECT_THAT(readOp("Dense_103", "0 2 1 1 1 2"), ElementsAre("fc6 {} on 2"));
  EXPECT_THAT(readOp("conv2", "0 4 1 1 1 1 1 2"),
              ElementsAre("Conv_3 {} on 2"));
  EXPECT_THAT(readOp("fc8", "0 2 1 1 1 2"), ElementsAre("fc8 {} on 2"));
  EXPECT_THAT(readOp("Pool2D-7", "0 4 1 1 1 1 1 2"),
              ElementsAre("MaxPool_2 {} on 2"));
}

TEST(StrategyFlexFlow, Products) {
  // FlexFlow's Dense has weights, its BatchMatMul two activations.
  Graph graph;
  addOp(graph, "attention", "linear", {{"n", 8}, {"c", 4}});
  addOp(graph, "dense", "linear", {{"n", 8}, {"c", 4}});
  graph.ops[0].operands = {0, 1};
  graph.ops[0].rules.schedules[0].phases[0].writes[0].slot = 2;
  EXPECT_THAT(read(graph, op("Dense_100", "0 2 1 1 1 1")),
              ElementsAre("dense {} on 1"));
  EXPECT_THAT(read(graph, op("BatchMatMul_100", "0 2 1 1 1 1")),
              ElementsAre("attention {} on 1"));
}

TEST(StrategyFlexFlow, NamesWithoutOperator) {
  EXPECT_EQ(errorOf(op("TopK_100", "0 2 1 1 1 0")),
            "s.txt:2: unknown operator 'TopK_100', expected a node name, an "
            "output name, or a family and a number, or one of FlexFlow such as "
            "'Dense_100' of a type that ffc has, too");
  EXPECT_EQ(
      errorOf(op("Embedding_100", "0 2 1 1 1 0")),
      "s.txt:2: 'Embedding_100': the file has 1 operators of type "
      "Embedding, expected at most as many as the model has (embedding), 0");
  EXPECT_EQ(
      errorOf(op("embedding", "0 2 1 1 1 0")),
      "s.txt:2: 'embedding': expected an operator of that type (embedding) "
      "in the model, found none");
  EXPECT_EQ(errorOf(op("11400714819323198485", "0 2 1 1 1 0")),
            "s.txt:2: '11400714819323198485' is the hash of an operator's "
            "name, which FlexFlow of 2020 wrote in its place: expected names");
  EXPECT_THAT(errorOf(op("Dense_99999999999999999999", "0 2 1 1 1 0")),
              HasSubstr("unknown operator 'Dense_99999999999999999999'"));
  EXPECT_EQ(errorOf("2\nDense_200 0 2 1 1 1 0\nDense_200 0 2 1 1 1 0\n"),
            "s.txt:3: 'Dense_200' is given twice");
  EXPECT_EQ(errorOf("2\nlinear 0 2 1 1 1 0\nDense_200 0 2 1 1 1 0\n"),
            "s.txt:3: 'fc6' is given twice, first as 'linear' and then as "
            "'Dense_200'");
}

//===----------------------------------------------------------------------===//
// Degrees and devices
//===----------------------------------------------------------------------===//

TEST(StrategyFlexFlow, Dimensions) {
  // w, h, c, n; the first fastest.
  EXPECT_THAT(readOp("Conv2D_100", "0 4 2 1 1 2 4 0 1 2 3"),
              ElementsAre("Conv_0 {n = 2, w = 2} on 0 1 2 3"));
  EXPECT_THAT(readOp("Conv2D_100", "0 4 1 2 2 1 4 3 1 2 0"),
              ElementsAre("Conv_0 {c = 2, h = 2} on 3 1 2 0"));
  EXPECT_THAT(readOp("Dense_106", "0 2 2 1 0"),
              ElementsAre("fc6 {c = 2} on 0 1"));
  // Channels of a grouped convolution: groups are dealt out first.
  EXPECT_THAT(readOp("Conv2D_103", "0 4 1 1 8 1 8 0 0 0 0 1 1 1 1"),
              ElementsAre("Conv_3 {g = 4, c = 2} on 0 0 0 0 1 1 1 1"));
  EXPECT_EQ(errorOf(op("Conv2D_103", "0 4 1 1 6 1 6 0 0 0 1 1 1")),
            "s.txt:2: 'Conv_3' (conv2d), dims[1,1,6,1] of 'Conv2D_103': "
            "dimension 2 of the result cannot be split into 6");
  // The ends mean the same whatever is between them.
  EXPECT_THAT(readOp("Conv2D_100", "0 2 2 2 4 0 1 2 3"),
              ElementsAre("Conv_0 {n = 2, w = 2} on 0 1 2 3"));
  EXPECT_THAT(readOp("Dense_106", "0 4 2 1 1 2 4 0 1 2 3"),
              ElementsAre("fc6 {n = 2, c = 2} on 0 1 2 3"));
  EXPECT_EQ(errorOf(op("Dense_106", "0 3 1 2 2 4 0 1 2 3")),
            "s.txt:2: 'fc6' (linear), dims[1,2,2] of 'Dense_106': expected 2 "
            "degrees as the result has dimensions, found 3");
  EXPECT_EQ(errorOf(op("Dense_106", "0 0 1 0")),
            "s.txt:2: 'fc6' (linear), dims[] of 'Dense_106': expected degrees, "
            "found none");
  EXPECT_EQ(errorOf(op("Softmax_109", "0 2 2 1 2 0 1")),
            "s.txt:2: 'Softmax_109': dimension 'c' of 'Softmax_9' cannot be "
            "split");
  EXPECT_THAT(read(dlrm(), op("mse_loss", "0 2 2 1 2 0 1")),
              ElementsAre("s.txt:2: 'loss' (mse), dims[2,1] of 'mse_loss': "
                          "expected a split of the sample, the last"));
}

TEST(StrategyFlexFlow, Devices) {
  EXPECT_EQ(errorOf(op("Dense_106", "0 2 1 4 3 0 1 2")),
            "s.txt:2: 'Dense_106': expected a device for each of 4 grid "
            "points, or none; found 3");
  EXPECT_EQ(errorOf(op("Dense_106", "0 2 1048576 1048576 0")),
            "s.txt:2: 'Dense_106': expected at most 1048576 grid points, found "
            "more");
  EXPECT_EQ(errorOf(op("Dense_106", "0 2 1 1 1 4")),
            "s.txt:2: 'Dense_106': device 4 of 'fc6': expected 0 to 3");
  EXPECT_EQ(errorOf(op("Dense_106", "1 2 1 1 1 0")),
            "s.txt:2: 'Dense_106': expected device type 0 (GPU), found 1 "
            "(CPU), which ffc has no second set of devices for");
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

TEST(StrategyFlexFlow, TextForm) {
  EXPECT_THAT(read(alexNet(), "# of 2021\r\n1\r\nDense_106\r\n0\r\n2\r\n"
                              "2\t2\t\r\n4\r\n3\t2\t1\t0\t\r\n"),
              ElementsAre("fc6 {n = 2, c = 2} on 3 2 1 0"));
  EXPECT_THAT(read(alexNet(), "0\n"), ElementsAre());
  EXPECT_EQ(errorOf("2\nDense_106 0 2 1 1 1 0\n"),
            "s.txt:2: expected the name of operator 2 of 2, found the end of "
            "the file");
  EXPECT_EQ(errorOf("1\nDense_106\n0\n2\n1 0\n"),
            "s.txt:5: expected a degree of 'Dense_106', 1 to 1048576, found "
            "'0'");
  EXPECT_EQ(errorOf("1\nDense_106\n2\n"),
            "s.txt:3: expected the device type of 'Dense_106', 0 to 1, found "
            "'2'");
  EXPECT_EQ(errorOf("1\nDense_106\n0\n2\n1 1\n99\n0 1"),
            "s.txt:7: expected a device of 'Dense_106', found the end of the "
            "file");
  EXPECT_EQ(errorOf("1\nDense_106 0 -2\n"),
            "s.txt:2: expected the number of dimensions of 'Dense_106', 0 to "
            "1048576, found '-2'");
  EXPECT_EQ(errorOf("1\nDense_106 0 2 1 1 1 0\nDense_107\n"),
            "s.txt:3: expected the end of the file after 1 operators, found "
            "'Dense_107'");
  EXPECT_EQ(errorOf("99999999999\n"),
            "s.txt:1: expected the number of operators, 0 to 1048576, found "
            "'99999999999'");
}

TEST(StrategyFlexFlow, PrintedForm) {
  EXPECT_THAT(read(alexNet(),
                   "=========== Best Discovered Strategy ==========\n"
                   "[Dense_106] num_dims(2) dims[2, 1] device_ids[]\n"
                   "============= MCMC Search Finished ============\n\n"),
              ElementsAre("fc6 {c = 2} on 0 1"));
  const std::string like =
      " as in '[Dense_100] num_dims(2) dims[1,4] device_ids[0,1,2,3]', found ";
  EXPECT_EQ(errorOf("[Dense_106] dims[1,1]"),
            "s.txt:1: expected 'num_dims('" + like + "'dims[1,1]'");
  EXPECT_EQ(errorOf("[Dense_106] num_dims(2) dims[1,1] device_ids[0]\nDense"),
            "s.txt:2: expected '['" + like + "'Dense'");
  EXPECT_EQ(errorOf("[Dense_106"),
            "s.txt:1: expected ']' after 'Dense_106', found the end of the "
            "line");
  EXPECT_EQ(errorOf("[Dense_106] num_dims(3) dims[1,1] device_ids[0]"),
            "s.txt:1: num_dims('3'): expected 2, the number of dims");
  EXPECT_EQ(errorOf("[Dense_106] num_dims(2) dims[1,x] device_ids[0]"),
            "s.txt:1: expected a degree, 1 to 1048576, found 'x'");
  EXPECT_EQ(errorOf("[Dense_106] num_dims(2) dims[1,1] device_ids[-1]"),
            "s.txt:1: expected a device, 0 to 2147483647, found '-1'");
  EXPECT_EQ(errorOf("[Dense_106] num_dims(2) dims[1,1] device_ids[0] 1"),
            "s.txt:1: expected the end of the line, found '1'");
  EXPECT_THAT(errorOf("[] num_dims(2) dims[1,1] device_ids[0]"),
              HasSubstr("s.txt:1: "));
}

// Whatever the text is, there is a strategy or one message, and no crash.
TEST(StrategyFlexFlow, AnyText) {
  const Graph graph = alexNet();
  const unsigned seed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string printed(kDlrm, 160);
  const std::string text = "2\nConv2D_100\n0\n4\n2\t1\t1\t2\n4\n0\t1\t2\t3\n"
                           "Dense_106\n0\n2\n1\t2\n2\n1\t3\n";
  const std::string bytes = "0123456789[](),_- \t\n#=\"Dnx\0\xff";
  for (const std::string &file : {printed, text})
    for (int round = 0; round < 20000; ++round) {
      std::string changed = file.substr(0, random() % (file.size() + 1));
      if (round % 2)
        changed = file;
      for (int edit = static_cast<int>(random() % 4); edit > 0; --edit) {
        std::string some;
        for (size_t i = random() % 5; i > 0; --i)
          some += bytes[random() % bytes.size()];
        changed.replace(random() % (changed.size() + 1), random() % 5, some);
      }
      std::string error;
      const auto strategy = parseStrategy(changed, "s.txt", graph, 4, error);
      ASSERT_NE(strategy.has_value(), error.find("s.txt:") == 0)
          << error << "\n"
          << changed;
    }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Every operator on device 0 but for what `text`, ours, says.
Strategy complete(const Graph &graph, const std::string &text) {
  std::string error;
  const auto given =
      parseStrategy("ffc strategy 1\n" + text, "s.txt", graph, 4, error);
  EXPECT_TRUE(given) << error;
  Strategy strategy;
  for (const auto &config : *given)
    strategy.push_back(config ? *config : Configuration::onDevice(0));
  return strategy;
}

TEST(StrategyFlexFlow, Prints) {
  Graph graph = alexNet();
  graph.ops[4].type = "lrn";
  const Strategy strategy =
      complete(graph, "conv2: h=2 w=2 n=1 on 0 2 1 3\nrelu1: w=2 n=2 on 0-3\n"
                      "fc6: c=2 n=2 on 0 1 2 3\nfc7: k=2 on 0 1\n"
                      "fc8: replica=2 on 0 1\n");
  std::vector<OpId> leftOut;
  EXPECT_EQ(
      printFlexFlowStrategy(graph, strategy, FlexFlowForm::Printed, leftOut),
      R"([Conv2D_100] num_dims(4) dims[1,1,1,1] device_ids[0]
[ReLU_101] num_dims(4) dims[2,1,1,2] device_ids[0,2,1,3]
[Pool2D_102] num_dims(4) dims[1,1,1,1] device_ids[0]
[Conv2D_103] num_dims(4) dims[2,2,1,1] device_ids[0,2,1,3]
[Flat_104] num_dims(2) dims[1,1] device_ids[0]
[Dense_105] num_dims(2) dims[2,2] device_ids[0,2,1,3]
[Softmax_108] num_dims(2) dims[1,1] device_ids[0]
)");
  EXPECT_THAT(leftOut, ElementsAre(4, 7, 8));
  Graph one;
  addOp(one, "a", "linear", {{"n", 8}, {"c", 4}});
  leftOut.clear();
  EXPECT_EQ(printFlexFlowStrategy(one, complete(one, "a: n=2 on 1 3"),
                                  FlexFlowForm::Text, leftOut),
            "1\nDense_100\n0\n2\n1\t2\n2\n1\t3\n");
  EXPECT_THAT(leftOut, ElementsAre());
}

/// Without axes of degree 1, the others by dimension, as FlexFlow has them.
Configuration sorted(const Configuration &config) {
  Configuration result;
  for (const GridAxis &axis : config.axes)
    if (axis.degree > 1)
      result.axes.push_back(axis);
  std::sort(result.axes.begin(), result.axes.end(),
            [](const GridAxis &a, const GridAxis &b) { return a.dim < b.dim; });
  for (int64_t point = 0; point < result.numPoints(); ++point) {
    const std::vector<int64_t> index = result.coordinates(point);
    for (int64_t from = 0; from < config.numPoints(); ++from) {
      const std::vector<int64_t> other = config.coordinates(from);
      bool same = true;
      for (size_t i = 0; i < result.axes.size(); ++i)
        for (size_t k = 0; k < config.axes.size(); ++k)
          same &=
              config.axes[k].dim != result.axes[i].dim || other[k] == index[i];
      if (same)
        result.devices.push_back(config.devices[from]);
    }
  }
  return result;
}

TEST(StrategyFlexFlow, PrintReadsBack) {
  const Graph graph = alexNet();
  const unsigned seed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  size_t numSaid = 0, numLeftOut = 0;
  for (int round = 0; round < 200; ++round) {
    const Strategy strategy = drawStrategy(graph, random, 6);
    for (FlexFlowForm form : {FlexFlowForm::Text, FlexFlowForm::Printed}) {
      std::vector<OpId> leftOut;
      const std::string text =
          printFlexFlowStrategy(graph, strategy, form, leftOut);
      std::string error;
      const auto again = parseStrategy(text, "s.txt", graph, 4, error);
      ASSERT_TRUE(again) << error << "\n" << text;
      for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
        const bool left = std::count(leftOut.begin(), leftOut.end(), id) > 0 ||
                          graph.op(id).role != OpRole::Forward;
        ASSERT_EQ(!left, (*again)[id].has_value()) << text;
        (left ? numLeftOut : numSaid) += 1;
        if (left)
          continue;
        const Configuration expected = sorted(strategy[id]);
        ASSERT_EQ(*(*again)[id], expected)
            << (*again)[id]->str(graph.op(id).rules) << " "
            << expected.str(graph.op(id).rules);
      }
    }
  }
  EXPECT_GT(numSaid, 2000u);
  EXPECT_GT(numLeftOut, 200u);
}

} // namespace
