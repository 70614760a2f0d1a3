//===- InitialValuesTest.cpp - first values against the runtime's ---------===//

#include "ffc/Reference/InitialValues.h"

#include "common/data/source.h"
#include "common/program/initial.h"

#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using ::testing::HasSubstr;

namespace {

constexpr uint64_t kSeed = 1234567890123;

class InitialValuesTest : public ::testing::Test {
protected:
  InitialValuesTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          messages += diagnostic.str() + "\n";
        }) {
    context.loadDialect<func::FuncDialect, FFDialect>();
    std::vector<float> numbers = {0, 1.5f, -2, 3, 4, 5};
    std::ofstream(weights, std::ios::binary)
        .write(reinterpret_cast<const char *>(numbers.data()), 6 * 4);
  }
  ~InitialValuesTest() override { std::remove(weights.c_str()); }

  OwningOpRef<ModuleOp> module(StringRef init, StringRef shape = "5") {
    return parseSourceString<ModuleOp>(
        "func.func @main(%x: tensor<3x5xf32> {ff.name = \"x\"},"
        "                %t: tensor<7xi32> {ff.name = \"target\"}) {\n"
        "  %0 = ff.state \"w\" \"parameter\" init " +
            init.str() + " : tensor<" + shape.str() + "xf32>\n  return\n}",
        &context);
  }

  /// What the compiler gives the state.
  std::vector<double> compiled(StringRef init, StringRef shape = "5") {
    auto parsed = module(init, shape);
    auto states = initialStates(*parsed, kSeed, weights);
    return failed(states) ? std::vector<double>() : (*states)["w"].data;
  }

  /// What the runtime gives it.
  std::vector<double> run(ffrt::Init init) {
    float data[5] = {};
    ffrt::StateSlot slot{"w", ffrt::StateKind::parameter, init, {}};
    slot.tensor.data = data;
    slot.tensor.rank = 1;
    slot.tensor.shape[0] = slot.tensor.global[0] = 5;
    ffrt::initialise({slot}, kSeed, {weights, ""});
    return std::vector<double>(data, data + 5);
  }
  /// The same of a tensor of rank 3.
  std::vector<double> runMatrices(ffrt::Init init,
                                  const std::array<int64_t, 3> &shape) {
    std::vector<float> data(shape[0] * shape[1] * shape[2]);
    ffrt::StateSlot slot{"w", ffrt::StateKind::slot, init, {}};
    slot.tensor.data = data.data();
    slot.tensor.rank = 3;
    for (int d = 0; d < 3; ++d)
      slot.tensor.shape[d] = slot.tensor.global[d] = shape[d];
    ffrt::initialise({slot}, kSeed, {weights, ""});
    return {data.begin(), data.end()};
  }

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  std::string weights =
      ::testing::TempDir() + "ffc_initial_values_" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(InitialValuesTest, StatesAreTheRuntimes) {
  EXPECT_EQ(compiled("<constant, 0.1 : f64, 0>"),
            run({ffrt::Init::constant, 0.1, 0}));
  EXPECT_EQ(compiled("<uniform, 0.3 : f64, 0>"),
            run({ffrt::Init::uniform, 0.3, 0}));
  EXPECT_EQ(compiled("<normal, 0.02 : f64, 0>"),
            run({ffrt::Init::normal, 0.02, 0}));
  EXPECT_EQ(compiled("<file, 0.0 : f64, 4>"), run({ffrt::Init::file, 0, 4}));
}

TEST_F(InitialValuesTest, MatricesAreTheRuntimes) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(compiled("<positions, -3.0 : f64, 0>", "2x3x4"),
            runMatrices({ffrt::Init::positions, -3.0, 0}, {2, 3, 4}));
  EXPECT_EQ(compiled("<upper, 0xFFF0000000000000 : f64, 0>", "2x3x4"),
            runMatrices({ffrt::Init::upper, -infinity, 0}, {2, 3, 4}));
  const std::vector<double> lower = {2, 0, 0, 0, 2, 2, 0, 0, 2, 2, 2, 0,
                                     2, 0, 0, 0, 2, 2, 0, 0, 2, 2, 2, 0};
  EXPECT_EQ(compiled("<lower, 2.0 : f64, 0>", "2x3x4"), lower);
  EXPECT_EQ(runMatrices({ffrt::Init::lower, 2.0, 0}, {2, 3, 4}), lower);
}

/// The runtime fills rows on several threads.
TEST_F(InitialValuesTest, ManyRowsAreTheRuntimes) {
  EXPECT_EQ(compiled("<normal, 0.02 : f64, 0>", "50x70x101"),
            runMatrices({ffrt::Init::normal, 0.02, 0}, {50, 70, 101}));
  EXPECT_EQ(compiled("<lower, 1.0 : f64, 0>", "50x70x101"),
            runMatrices({ffrt::Init::lower, 1.0, 0}, {50, 70, 101}));
}

TEST_F(InitialValuesTest, FileTooShort) {
  EXPECT_TRUE(compiled("<file, 0.0 : f64, 8>").empty());
  EXPECT_THAT(messages, HasSubstr("'w': expected at least 28 bytes in '" +
                                  weights + "', found 24"));
}

TEST_F(InitialValuesTest, FileMissing) {
  std::remove(weights.c_str());
  EXPECT_TRUE(compiled("<file, 0.0 : f64, 0>").empty());
  EXPECT_THAT(messages,
              HasSubstr("'w': cannot read the weights file '" + weights + "'"));
}

TEST_F(InitialValuesTest, InputsAreTheRuntimes) {
  auto parsed = parseSourceString<ModuleOp>(
      "func.func @main(%x: tensor<3x5xf32> {ff.name = \"x\"},"
      "                %t: tensor<7xi32> {ff.name = \"target\"},"
      "                %table: tensor<10x2xf32> {ff.name = \"table\"},"
      "                %p: tensor<9xf32> {ff.name = \"p\"},"
      "                %yes: tensor<9xf32> {ff.name = \"yes\"}) {\n"
      "  %0 = ff.embedding(%table, %t)"
      "      : (tensor<10x2xf32>, tensor<7xi32>) -> tensor<7x2xf32>\n"
      "  %1 = ff.bce(%p, %yes)"
      "      : (tensor<9xf32>, tensor<9xf32>) -> tensor<f32>\n"
      "  return\n}",
      &context);
  auto inputs = syntheticInputs(*parsed, kSeed, 3);
  ASSERT_TRUE(succeeded(inputs));

  ffrt::ProgramInfo info{};
  info.inputs.resize(3);
  info.inputs[0].name = "x";
  info.inputs[0].type = ffrt::DType::f32;
  info.inputs[1].name = "target";
  info.inputs[1].type = ffrt::DType::i32;
  info.inputs[1].classes = 10;
  info.inputs[2].name = "yes";
  info.inputs[2].type = ffrt::DType::f32;
  info.inputs[2].classes = 2;
  auto source = ffrt::make_synthetic(info, kSeed);
  float x[15];
  int32_t target[7];
  ffrt::Tensor tensor;
  tensor.data = x;
  tensor.rank = 2;
  tensor.shape[0] = tensor.global[0] = 3;
  tensor.shape[1] = tensor.global[1] = 5;
  source->fill(3, 0, tensor);
  tensor.data = target;
  tensor.type = ffrt::DType::i32;
  tensor.rank = 1;
  tensor.shape[0] = tensor.global[0] = 7;
  source->fill(3, 1, tensor);
  float yes[9];
  tensor.data = yes;
  tensor.type = ffrt::DType::f32;
  tensor.shape[0] = tensor.global[0] = 9;
  source->fill(3, 2, tensor);

  EXPECT_EQ((*inputs)["x"].data, std::vector<double>(x, x + 15));
  EXPECT_EQ((*inputs)["target"].data, std::vector<double>(target, target + 7));
  EXPECT_EQ((*inputs)["yes"].data, std::vector<double>(yes, yes + 9));
}

} // namespace
