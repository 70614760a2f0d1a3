//===- StrategyFileTest.cpp - strategies as text --------------------------===//

#include "ffc/Plan/StrategyFile.h"
#include "AlexNetGraph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

using namespace ffc::plan;
using ffc::plan::testing::addOp;
using ffc::plan::testing::alexNet;
using ffc::plan::testing::drawStrategy;
using ::testing::HasSubstr;

namespace {

PartialStrategy parse(const Graph &graph, const std::string &text) {
  std::string error;
  std::optional<PartialStrategy> strategy =
      parseStrategy(text, "s.txt", graph, 4, error);
  if (!strategy)
    throw std::runtime_error(error);
  return *strategy;
}

/// The only configuration of `text`, as text.
std::string one(const std::string &text) {
  const Graph graph = alexNet();
  const PartialStrategy strategy = parse(graph, text);
  std::string result;
  for (size_t id = 0; id < strategy.size(); ++id)
    if (strategy[id])
      result +=
          graph.ops[id].name + " " + strategy[id]->str(graph.ops[id].rules);
  return result;
}

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(parseStrategy(text, "s.txt", alexNet(), 4, error)) << text;
  return error;
}

std::string ours(const std::string &line) {
  return "ffc strategy 1\n" + line + "\n";
}
std::string oneOfOurs(const std::string &line) { return one(ours(line)); }
std::string errorOfOurs(const std::string &line) { return errorOf(ours(line)); }

// data/strategies/alexnet-readme-table.txt, byte for byte.
const char *const kReadmeTable =
    R"(conv1    conv2d   n=4 c=1 h=1 w=1   0 1 2 3
pool1    pool2d   n=4 c=1 h=1 w=1   0 1 2 3
conv2    conv2d   n=1 c=1 h=2 w=2   0 2 1 3
pool2    pool2d   n=1 c=1 h=2 w=2   0 2 1 3
flat1    flat     n=2 c=1           0 2
linear1  linear   n=1 c=3           0 2 3
linear2  linear   n=1 c=3           0 1 2
linear3  linear   n=1 c=1           0
)";

//===----------------------------------------------------------------------===//
// The layer table
//===----------------------------------------------------------------------===//

TEST(StrategyTable, ReadmeTable) {
  const Graph graph = alexNet();
  const PartialStrategy strategy = parse(graph, kReadmeTable);
  std::vector<std::string> lines;
  for (size_t id = 0; id < strategy.size(); ++id)
    lines.push_back(strategy[id] ? strategy[id]->str(graph.ops[id].rules) : "");
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "{n = 4} on 0 1 2 3", "", "{n = 4} on 0 1 2 3",
                       "{h = 2, w = 2} on 0 2 1 3", "{h = 2, w = 2} on 0 2 1 3",
                       "{n = 2} on 0 2", "{c = 3} on 0 2 3", "{c = 3} on 0 1 2",
                       "{} on 0", "", ""}));
}

TEST(StrategyTable, NodeNamesAndShortFamilies) {
  EXPECT_EQ(one("fc6 linear n=2 0 1"), "fc6 {n = 2} on 0 1");
  EXPECT_EQ(one("conv2d1 conv n=2 0 1"), "Conv_0 {n = 2} on 0 1");
  EXPECT_EQ(one("# comment\n\n\"pool with space\" pool2d n=2 0-1 # more\r\n"),
            "pool with space {n = 2} on 0 1");
}

TEST(StrategyTable, ChannelsOfGroupedConvolutions) {
  EXPECT_EQ(one("conv2 conv2d c=2 0 1"), "Conv_3 {g = 2} on 0 1");
  EXPECT_EQ(one("conv2 conv2d c=4 0-3"), "Conv_3 {g = 4} on 0 1 2 3");
  EXPECT_EQ(one("conv2 conv2d c=8 0*8"), "Conv_3 {g = 4, c = 2} on 0*8");
  EXPECT_EQ(one("conv2 conv2d g=4 c=1 0-3"), "Conv_3 {g = 4} on 0 1 2 3");
  EXPECT_EQ(one("conv2 conv2d g=4 c=2 0*8"), "Conv_3 {g = 4, c = 2} on 0*8");
  // A convolution of one group is not grouped.
  EXPECT_EQ(one("conv1 conv2d c=3 0 1 2"), "Conv_0 {c = 3} on 0 1 2");
  EXPECT_EQ(errorOf("conv2 conv2d c=6 0*6"),
            "s.txt:1: 'Conv_3' has 4 groups of channels: expected c to divide "
            "or be a multiple of that, found c=6");
}

TEST(StrategyTable, Errors) {
  EXPECT_EQ(errorOf("conv1 conv2d n=1 0\nconv2 pool2d n=4 0-3\n"),
            "s.txt:2: expected the family 'conv2d' of 'Conv_3', found "
            "'pool2d'");
  EXPECT_EQ(errorOf("conv1 conv2d"),
            "s.txt:1: expected a row such as 'conv1 conv2d n=4 c=1 h=1 w=1 0 1 "
            "2 3', or the version line 'ffc strategy 1' before all others; "
            "found 'conv1'");
  EXPECT_EQ(errorOf("linear1 linear n=1 c=3 0 1"),
            "s.txt:1: 'fc6': expected a device for each of 3 grid points, "
            "found 2");
  EXPECT_EQ(errorOf("linear1 linear n=1 h=2 0 1"),
            "s.txt:1: 'fc6' (linear) has no dimension 'h', expected one of: n, "
            "c, k, replica");
  EXPECT_EQ(errorOf("linear1 linear n=2 gpu0 gpu1"),
            "s.txt:1: expected a device such as '0', '0-3' or '0*4', found "
            "'gpu0'");
}

//===----------------------------------------------------------------------===//
// Our own format
//===----------------------------------------------------------------------===//

TEST(Strategy, Lines) {
  EXPECT_EQ(oneOfOurs("conv2: h=2 w=2 on 0 2 1 3"),
            "Conv_3 {h = 2, w = 2} on 0 2 1 3");
  EXPECT_EQ(oneOfOurs("  fc6 :  c=2\treplica=2 on 0-3   # comment"),
            "fc6 {c = 2, replica = 2} on 0 1 2 3");
  EXPECT_EQ(oneOfOurs("fc6: replica=2 replica=2 on 3-0"),
            "fc6 {replica = 2, replica = 2} on 3 2 1 0");
  EXPECT_EQ(oneOfOurs("softmax1: on 0"), "Softmax_9 {} on 0");
  EXPECT_EQ(oneOfOurs("fc6: n=8 on 0*2 1-2*2 0 3"),
            "fc6 {n = 8} on 0 0 1 2 1 2 0 3");
  EXPECT_EQ(oneOfOurs("\"fc8#w\": k=2 on 0 1"), "fc8#w {k = 2} on 0 1");
  EXPECT_EQ(oneOfOurs("\"pool with\\x20space\": on 1"),
            "pool with space {} on 1");
  EXPECT_EQ(one("# first\n\nffc strategy 1  # version\r\nfc6: on 2"),
            "fc6 {} on 2");
  EXPECT_EQ(one("ffc strategy 1"), "");
}

TEST(Strategy, Names) {
  for (const char *name : {"Conv_0", "features.0", "conv1", "conv2d1"})
    EXPECT_EQ(oneOfOurs(std::string(name) + ": on 1"), "Conv_0 {} on 1");
  EXPECT_EQ(oneOfOurs("linear3: on 1"), "fc8 {} on 1");
  EXPECT_EQ(oneOfOurs("pool2d2: on 1"), "pool with space {} on 1");
  EXPECT_EQ(oneOfOurs("relu1: on 1"), "Relu_1 {} on 1");
}

TEST(Strategy, NodeNamesGoFirst) {
  // The second convolution is called what the first one's ordinal is.
  Graph graph = alexNet();
  graph.ops[3].name = "conv1";
  const PartialStrategy strategy = parse(graph, ours("conv1: on 2"));
  EXPECT_FALSE(strategy[0]);
  EXPECT_TRUE(strategy[3]);
}

TEST(Strategy, UnknownNames) {
  EXPECT_EQ(errorOfOurs("fc9x: on 0"),
            "s.txt:2: unknown operator 'fc9x', expected a node name, an output "
            "name, or a family and a number");
  EXPECT_EQ(errorOfOurs("Conv_1: on 0"),
            "s.txt:2: unknown operator 'Conv_1', expected a node name, an "
            "output name, or a family and a number; did you mean 'Conv_0'?");
  EXPECT_EQ(errorOfOurs("sofmax1: on 0"),
            "s.txt:2: unknown operator 'sofmax1', expected a node name, an "
            "output name, or a family and a number; did you mean 'softmax1'?");
  EXPECT_EQ(errorOfOurs("conv3: on 0"),
            "s.txt:2: unknown operator 'conv3', expected a node name, an "
            "output name, or a family and a number; there are conv1 to conv2");
  // Ordinals count the forward pass.
  EXPECT_THAT(errorOfOurs("linear_backward_weights1: on 0"),
              HasSubstr("unknown operator"));
}

TEST(Strategy, AmbiguousNames) {
  Graph graph = alexNet();
  graph.ops[1].aliases = graph.ops[2].aliases = {"same"};
  graph.ops[5].type = "pool1d";
  std::string error;
  EXPECT_FALSE(parseStrategy(ours("same: on 0"), "s.txt", graph, 4, error));
  EXPECT_EQ(error, "s.txt:2: 'same' is ambiguous, expected one of the nodes "
                   "'Relu_1', 'MaxPool_2'");
  EXPECT_FALSE(parseStrategy(ours("pool1: on 0"), "s.txt", graph, 4, error));
  EXPECT_EQ(error, "s.txt:2: 'pool1' is ambiguous, expected one of the nodes "
                   "'MaxPool_2', 'Flatten_5'");
}

TEST(Strategy, GivenTwice) {
  EXPECT_EQ(errorOfOurs("Conv_0: on 0\n# comment\nconv1: on 0"),
            "s.txt:4: 'Conv_0' is given twice, first on line 2");
}

TEST(Strategy, Degrees) {
  EXPECT_EQ(errorOfOurs("fc6: x=2 on 0 1"),
            "s.txt:2: 'fc6' (linear) has no dimension 'x', expected one of: n, "
            "c, k, replica");
  for (const char *degree :
       {"n=", "n=0", "n=-1", "n=2x", "=2", "n=99999999999", "n=1048577"})
    EXPECT_EQ(errorOfOurs("fc6: " + std::string(degree) + " on 0"),
              "s.txt:2: expected a dimension and its degree such as 'n=4', 1 "
              "to 1048576, found '" +
                  std::string(degree) + "'");
  EXPECT_EQ(errorOfOurs("conv1: h=14 on 0*14"),
            "s.txt:2: degree 14 of dimension 'h' of 'Conv_0': expected at most "
            "13");
  // In units of the granularity, 2 of 8 rows.
  EXPECT_EQ(errorOfOurs("softmax1: n=5 on 0*5"),
            "s.txt:2: degree 5 of dimension 'n' of 'Softmax_9': expected at "
            "most 4");
  EXPECT_EQ(errorOfOurs("softmax1: c=2 on 0 1"),
            "s.txt:2: dimension 'c' of 'Softmax_9' cannot be split");
  EXPECT_EQ(errorOfOurs("fc6: n=2 n=2 on 0-3"),
            "s.txt:2: dimension 'n' of 'fc6' is split twice");
  EXPECT_EQ(errorOfOurs("conv2: c=2 on 0 1"),
            "s.txt:2: split {c = 2} on 0 1 of 'Conv_3': a tile's result is not "
            "one box; split a leading dimension fully first");
}

TEST(Strategy, Shares) {
  EXPECT_EQ(oneOfOurs("fc6: n=2:1:1 on 0 1 2"), "fc6 {n = 2:1:1} on 0 1 2");
  EXPECT_EQ(oneOfOurs("fc6: n=4*2:2 c=2 on 0*6"),
            "fc6 {n = 2:2:1, c = 2} on 0*6");
  EXPECT_EQ(oneOfOurs("fc6: n=2*3 on 0 1 2"), "fc6 {n = 3} on 0 1 2");
  for (const char *shares :
       {"n=2:", "n=:2", "n=2:0", "n=2:-1", "n=1:x", "n=2*", "n=*2", "n=1*0",
        "n=1:1048577", "n=1:2*1048576", "n=1*2*3"})
    EXPECT_EQ(errorOfOurs("fc6: " + std::string(shares) + " on 0"),
              "s.txt:2: expected shares such as 'n=3:3:1:1' or 'n=3*2:1*2', of "
              "1 to 1048576, found '" +
                  std::string(shares) + "'");
  EXPECT_EQ(errorOfOurs("fc6: n=1048575:2 on 0 1"),
            "s.txt:2: expected shares of at least 1, and of at most 1048576 "
            "together, found 1048575:2 of 'fc6'");
  EXPECT_EQ(errorOfOurs("fc6: replica=2:1 on 0 1"),
            "s.txt:2: expected the number of copies, found shares 2:1 of "
            "'fc6'");
}

TEST(Strategy, Devices) {
  EXPECT_EQ(errorOfOurs("fc6: n=4 on 0-2"),
            "s.txt:2: 'fc6': expected a device for each of 4 grid points, "
            "found 3");
  EXPECT_EQ(errorOfOurs("fc6: n=4 on"),
            "s.txt:2: 'fc6': expected a device for each of 4 grid points, "
            "found 0");
  EXPECT_EQ(errorOfOurs("fc6: n=2 on 0 4"),
            "s.txt:2: device 4 of 'fc6': expected 0 to 3");
  for (const char *device :
       {"x", "-1", "0-", "0-x", "0*", "0*0", "0*1048577", "4294967296", "0,1"})
    EXPECT_EQ(errorOfOurs("fc6: on " + std::string(device)),
              "s.txt:2: expected a device such as '0', '0-3' or '0*4', found "
              "'" +
                  std::string(device) + "'");
  for (const char *devices :
       {"0-9*1048576", "0-2000000", "2147483647-0", "0*1048576 0"})
    EXPECT_EQ(errorOfOurs("fc6: on " + std::string(devices)),
              "s.txt:2: expected at most 1048576 devices on a line, found "
              "more");
  EXPECT_EQ(errorOfOurs("fc6: replica=1048576 replica=1048576 "
                        "replica=1048576 replica=1048576 on 0"),
            "s.txt:2: 'fc6': expected at most 1048576 grid points, found more");
}

TEST(Strategy, Syntax) {
  EXPECT_EQ(errorOfOurs("fc6 n=4 on 0"),
            "s.txt:2: expected an operator's name and ':' as in 'conv1: n=4 on "
            "0-3', found 'fc6'");
  EXPECT_EQ(errorOfOurs(": n=4 on 0"),
            "s.txt:2: expected an operator's name, found ':'");
  EXPECT_EQ(errorOfOurs("fc6: n=4 0 1 2 3"),
            "s.txt:2: expected a degree such as 'n=4' or 'on' and devices, "
            "found '0'");
  EXPECT_EQ(errorOfOurs("fc6: n=4"),
            "s.txt:2: expected 'on' and devices after 'fc6', found the end of "
            "the line");
  EXPECT_EQ(errorOfOurs("\"fc6: on 0"),
            "s.txt:2: expected '\"' at the end of a quoted name, found the end "
            "of the line");
  EXPECT_EQ(errorOfOurs("\"fc\\6\": on 0"),
            "s.txt:2: expected \\\", \\\\ or \\xHH in a quoted name, found "
            "'\\6\":'");
  EXPECT_EQ(errorOfOurs("\"\": on 0"),
            "s.txt:2: expected a name, found an empty one");
}

TEST(Strategy, VersionLine) {
  EXPECT_EQ(errorOf("ffc strategy 2\n"),
            "s.txt:1: expected the version line 'ffc strategy 1', found 'ffc "
            "strategy 2'");
  EXPECT_EQ(errorOf("\nfc6: on 0\n"),
            "s.txt:2: expected the version line 'ffc strategy 1', found 'fc6 : "
            "on 0'");
}

TEST(Strategy, Files) {
  EXPECT_EQ(errorOf(""), "s.txt:1: expected a strategy, found an empty file");
  EXPECT_EQ(errorOf("# only\n\n"),
            "s.txt:1: expected a strategy, found an empty file");
  EXPECT_EQ(errorOf(ours("x: " + std::string(1 << 20, ' '))),
            "s.txt:2: expected at most 1048576 bytes on a line, found 1048579");
  EXPECT_EQ(errorOf(std::string("ffc\n\0\x01", 6)),
            "s.txt:2: expected text, found the byte '\\x00'");
  EXPECT_EQ(errorOf("\x7f"
                    "ELF\x02"),
            "s.txt:1: expected text, found the byte '\\x7f'");
  std::string error;
  EXPECT_FALSE(loadStrategy("/nowhere/s.txt", alexNet(), 4, error));
  EXPECT_EQ(error, "/nowhere/s.txt: cannot be read: No such file or directory");
}

TEST(Strategy, Loads) {
  const std::string path = ::testing::TempDir() + "/ffc-strategy-test.txt";
  std::ofstream(path) << kReadmeTable;
  std::string error;
  const auto strategy = loadStrategy(path, alexNet(), 4, error);
  ASSERT_TRUE(strategy) << error;
  EXPECT_EQ(*strategy, parse(alexNet(), kReadmeTable));
  EXPECT_FALSE(loadStrategy(path, alexNet(), 3, error));
  EXPECT_EQ(error, path + ":1: device 3 of 'Conv_0': expected 0 to 2");
  std::remove(path.c_str());
}

TEST(Strategy, PrintsReadably) {
  const Graph graph = alexNet();
  const std::string text = R"(ffc strategy 1
Conv_0: n=4 on 0 1 2 3
Conv_3: h=2 w=2 on 0 2 1 3
"pool with space": n=1 on 0
fc6: n=8 replica=2 on 0*9 1*6 2
fc7: n=3:1 on 2 3
"fc8#w": k=2 on 0 1
)";
  EXPECT_EQ(printStrategy(graph, parse(graph, text)), text);
  Graph wide;
  addOp(wide, "a", "relu", {{"n", 64}});
  std::string error;
  const std::string range = "ffc strategy 1\na: n=64 on 0-60 7 7 7\n";
  const auto strategy = parseStrategy(range, "s.txt", wide, 64, error);
  ASSERT_TRUE(strategy) << error;
  EXPECT_EQ(printStrategy(wide, *strategy), range);
}

TEST(Strategy, PrintReadsBackExactly) {
  Graph graph = alexNet();
  graph.ops[2].name = "a \"quoted\\ name\"\twith: all # of\x01 it";
  graph.ops[3].name = "\xC3\xA9t\xC3\xA9/0:1";
  const unsigned seed = 20261121;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const Strategy strategy = drawStrategy(graph, random, 2);
    const PartialStrategy again = parse(graph, printStrategy(graph, strategy));
    ASSERT_EQ(again, PartialStrategy(strategy.begin(), strategy.end()));
  }
}

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

/// What loadRewrites() says of a file with `text`: names with spaces, or the
/// message behind the path.
std::string rewritesOf(const std::string &text) {
  const std::string path = ::testing::TempDir() + "/ffc-rewrites-test.txt";
  std::ofstream(path) << text;
  std::string error;
  const auto rules = loadRewrites(path, {"one", "two"}, error);
  std::remove(path.c_str());
  if (!rules)
    return error.substr(path.size());
  std::string names;
  for (const std::string &rule : *rules)
    names += (names.empty() ? "" : " ") + rule;
  return names;
}

TEST(StrategyRewrites, AreTheSecondLine) {
  EXPECT_EQ(rewritesOf(ours("rewrites two one  # both")), "two one");
  EXPECT_EQ(rewritesOf("# first\nffc strategy 1\n\nrewrites one\nfc7: on 2\n"),
            "one");
  EXPECT_EQ(rewritesOf(ours("fc7: on 2")), "");
  EXPECT_EQ(rewritesOf("ffc strategy 1\n"), "");
  // An operator of that name, and other formats.
  EXPECT_EQ(rewritesOf(ours("rewrites: on 2")), "");
  EXPECT_EQ(rewritesOf(kReadmeTable), "");
  EXPECT_EQ(rewritesOf("1\nDense_103\n0\n1\n1\n1\n0\n"), "");
  EXPECT_EQ(rewritesOf(""), "");
  EXPECT_EQ(oneOfOurs("rewrites one\nfc7: on 2"), oneOfOurs("fc7: on 2"));
}

TEST(StrategyRewrites, PrintReadsBack) {
  const Graph graph = alexNet();
  const PartialStrategy strategy = parse(graph, ours("fc7: on 2"));
  const std::string text = printStrategy(graph, strategy, {"two", "one"});
  EXPECT_EQ(text, "ffc strategy 1\nrewrites two one\nfc7: on 2\n");
  EXPECT_EQ(rewritesOf(text), "two one");
  EXPECT_EQ(parse(graph, text), strategy);
}

TEST(StrategyRewrites, Errors) {
  EXPECT_EQ(rewritesOf(ours("rewrites")),
            ":2: expected names of rules after 'rewrites' (one, two), found "
            "the end of the line");
  EXPECT_EQ(rewritesOf(ours("rewrites one three")),
            ":2: expected 'rewrites' and rules among one, two, found 'three'");
  EXPECT_EQ(rewritesOf(ours("rewrites one one")),
            ":2: expected every rule once, found 'one' twice");
  EXPECT_EQ(errorOfOurs("fc7: on 2\nrewrites one"),
            "s.txt:3: expected 'rewrites' right after the version line, found "
            "it behind other lines");
  std::string error;
  EXPECT_FALSE(loadRewrites("/nowhere/s.txt", {}, error));
  EXPECT_EQ(error, "/nowhere/s.txt: cannot be read: No such file or directory");
}

} // namespace
