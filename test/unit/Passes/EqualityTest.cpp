//===- EqualityTest.cpp - the strategy never changes the meaning ----------===//
//
// Random legal strategies of training programs with fused operators, all ranks
// in the reference evaluator, against the graph as it was before fusion:
// losses, gradients, parameters.
//
//===----------------------------------------------------------------------===//

#include "EqualityModel.h"

#include "llvm/ADT/StringSwitch.h"

using namespace ffc;
using namespace ffc::equality;

namespace {

class Equality
    : public ::testing::TestWithParam<std::tuple<const char *, int>> {};

/// What models of this name hold once the recognisers have run.
std::vector<const char *> recognisedIn(llvm::StringRef file) {
  using Names = std::vector<const char *>;
  return llvm::StringSwitch<Names>(file.split('-').first)
      .Cases({"vit", "bert", "causal", "gpt", "t5"},
             Names{"attention", "attention_backward"})
      .Default({});
}

TEST_P(Equality, RandomStrategies) {
  auto [file, devices] = GetParam();
  Model model(std::string(FFC_TEST_MODELS) + "/" + file);
  for (const char *type : recognisedIn(file))
    EXPECT_TRUE(model.hasOperator(type)) << type;
  checkStrategies(model, devices);
}

/// Products go on with their sums: gradients of biases, residual connections,
/// GELU and its gradient where they multiply rounded factors.
TEST(Fusion, TakesWhatFollowsProducts) {
  for (const char *factors : {"", "tf32", "bf16", "f16"}) {
    Making making;
    making.rounding = factors;
    Model model(std::string(FFC_TEST_MODELS) + "/gpt-small.onnxtxt", making);
    ASSERT_TRUE(model.valid);
    int sums = 0, addends = 0, gelus = 0;
    model.module.get()->walk([&](mlir::Operation *op) {
      auto product = llvm::dyn_cast<ff::MatMulOp>(op);
      addends += product && product.getAddend();
      sums += llvm::isa<ff::MatMulSumsOp>(op);
      gelus += llvm::isa<ff::MatMulGeluOp, ff::MatMulGeluBackwardOp>(op);
    });
    EXPECT_GT(sums, 0);
    EXPECT_GT(addends, 0);
    EXPECT_EQ(gelus, making.rounding.empty() ? 0 : 2);
  }
}

/// Factors of products are rounded alike, wherever they are multiplied.
class NarrowFactors
    : public ::testing::TestWithParam<std::tuple<const char *, const char *>> {
};

TEST_P(NarrowFactors, RandomStrategies) {
  auto [file, factors] = GetParam();
  Making making;
  making.rounding = factors;
  Model model(std::string(FFC_TEST_MODELS) + "/" + file, making);
  if (making.rounding != "tf32") {
    EXPECT_TRUE(model.hasCopies());
  }
  checkStrategies(model, /*devices=*/4);
}

INSTANTIATE_TEST_SUITE_P(
    Models, NarrowFactors,
    ::testing::Combine(::testing::Values("lenet-small.onnxtxt",
                                         "resnet-small.onnxtxt",
                                         "gpt-small.onnxtxt",
                                         "bert-small.onnxtxt",
                                         "vocabulary-small.onnxtxt"),
                       ::testing::Values("bf16", "f16")));
// Products with GELU.
INSTANTIATE_TEST_SUITE_P(
    Gelu, NarrowFactors,
    ::testing::Combine(::testing::Values("gpt-small.onnxtxt"),
                       ::testing::Values("tf32")));

/// The evaluator goes over one batch, which is then the mean of all.
class MicroBatches
    : public ::testing::TestWithParam<std::tuple<const char *, int>> {};

TEST_P(MicroBatches, RandomStrategies) {
  auto [file, devices] = GetParam();
  Making making;
  making.differentiate.optimizer = "adam";
  making.differentiate.clipNorm = 0.01;
  making.differentiate.microBatches = 3;
  Model model(std::string(FFC_TEST_MODELS) + "/" + file, making);
  checkStrategies(model, devices);
}

INSTANTIATE_TEST_SUITE_P(
    Models, MicroBatches,
    ::testing::Combine(::testing::Values("lenet-small.onnxtxt",
                                         "resnet-small.onnxtxt",
                                         "gpt-small.onnxtxt"),
                       ::testing::Values(2, 4)));

/// Models and devices for what changes the order of a step.
static auto kindsOfOrders() {
  return ::testing::Combine(
      ::testing::Values("mlp-small.onnxtxt", "lenet-small.onnxtxt",
                        "resnet-small.onnxtxt", "gpt-small.onnxtxt",
                        "causal-small.onnxtxt", "recurrent-small.onnxtxt",
                        "llama-small.onnxtxt"),
      ::testing::Values(2, 3, 4, 8));
}

/// The order of a pipeline changes nothing either.
class Pipelines
    : public ::testing::TestWithParam<std::tuple<const char *, int>> {};

TEST_P(Pipelines, RandomStrategies) {
  auto [file, devices] = GetParam();
  Model model(std::string(FFC_TEST_MODELS) + "/" + file);
  checkPipelines(model, devices);
}

INSTANTIATE_TEST_SUITE_P(Models, Pipelines, kindsOfOrders());

/// Several batches of a step, each in the order of a pipeline.
TEST(Pipelines, OfMicroBatches) {
  Making making;
  making.differentiate.clipNorm = 0.01;
  making.differentiate.microBatches = 3;
  Model model(std::string(FFC_TEST_MODELS) + "/gpt-small.onnxtxt", making);
  checkPipelines(model, 4);
}

/// Nor does it what is computed or sent again.
class Recomputation
    : public ::testing::TestWithParam<std::tuple<const char *, int>> {};

TEST_P(Recomputation, RandomStrategies) {
  auto [file, devices] = GetParam();
  Model model(std::string(FFC_TEST_MODELS) + "/" + file);
  checkRecomputation(model, devices);
}

INSTANTIATE_TEST_SUITE_P(Models, Recomputation, kindsOfOrders());

TEST(Recomputation, OfMicroBatches) {
  Making making;
  making.differentiate.clipNorm = 0.01;
  making.differentiate.microBatches = 3;
  Model model(std::string(FFC_TEST_MODELS) + "/gpt-small.onnxtxt", making);
  checkRecomputation(model, 4);
}

/// Groups of samples in batch normalisation, and devices.
class LocalBatchNorm : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(LocalBatchNorm, RandomStrategies) {
  auto [groups, devices] = GetParam();
  Making making;
  making.sampleGroups = groups;
  Model model(std::string(FFC_TEST_MODELS) + "/resnet-small.onnxtxt", making);
  checkStrategies(model, devices);
}

INSTANTIATE_TEST_SUITE_P(Groups, LocalBatchNorm,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(2, 3, 4)));

/// Updates of rows give what updates of whole tables do.
class RowUpdates
    : public ::testing::TestWithParam<std::tuple<const char *, int>> {};

TEST_P(RowUpdates, RandomStrategies) {
  auto [optimizer, devices] = GetParam();
  Making making;
  making.differentiate.optimizer = optimizer;
  const std::string path = std::string(FFC_TEST_MODELS) + "/dlrm-small.onnxtxt";
  Model dense(path, making);
  making.differentiate.rowUpdates = true;
  Model sparse(path, making);
  ASSERT_TRUE(dense.valid && sparse.valid);
  EXPECT_TRUE(dense.hasOutput("grad/user_table"));
  EXPECT_FALSE(sparse.hasOutput("grad/user_table"));
  sparse.expectSameStates(dense);
  checkStrategies(sparse, devices);
}

INSTANTIATE_TEST_SUITE_P(Devices, RowUpdates,
                         ::testing::Combine(::testing::Values("sgd:momentum=0",
                                                              "adagrad"),
                                            ::testing::Values(2, 3, 4, 8)));

/// Optimizers other than plain SGD, with their state, and clipped gradients.
class Optimizers
    : public ::testing::TestWithParam<std::tuple<const char *, double, int>> {};

TEST_P(Optimizers, RandomStrategies) {
  auto [optimizer, clipNorm, devices] = GetParam();
  Making making;
  making.differentiate.optimizer = optimizer;
  making.differentiate.clipNorm = clipNorm;
  Model model(std::string(FFC_TEST_MODELS) + "/lenet-small.onnxtxt", making);
  checkStrategies(model, devices);
}

INSTANTIATE_TEST_SUITE_P(
    Clipped, Optimizers,
    ::testing::Combine(::testing::Values("sgd:momentum=0.9,nesterov=1", "adam",
                                         "lamb"),
                       ::testing::Values(0.01), ::testing::Values(2, 4)));
INSTANTIATE_TEST_SUITE_P(
    Unclipped, Optimizers,
    ::testing::Combine(::testing::Values("adamw", "adagrad",
                                         "rmsprop:momentum=0.5", "lamb",
                                         "hf_adamw", "lion"),
                       ::testing::Values(0.0), ::testing::Values(3)));

/// Running means of parameters, and targets that stand for all classes, which
/// strategies may split.
class SmoothedTargets
    : public ::testing::TestWithParam<std::tuple<const char *, int>> {};

TEST_P(SmoothedTargets, RandomStrategies) {
  auto [file, devices] = GetParam();
  Making making;
  making.differentiate.ema = 0.75;
  making.differentiate.labelSmoothing = 0.25;
  Model model(std::string(FFC_TEST_MODELS) + "/" + file, making);
  checkStrategies(model, devices);
}

INSTANTIATE_TEST_SUITE_P(
    Models, SmoothedTargets,
    ::testing::Combine(::testing::Values("lenet-small.onnxtxt",
                                         "gpt-small.onnxtxt"),
                       ::testing::Values(3)));

/// A scale of the loss that is a power of two changes nothing, as long as
/// squares of gradients are numbers.
class LossScaling : public ::testing::TestWithParam<
                        std::tuple<const char *, const char *, double, int>> {};

TEST_P(LossScaling, RandomStrategies) {
  auto [file, optimizer, clipNorm, microBatches] = GetParam();
  const std::string path = std::string(FFC_TEST_MODELS) + "/" + file;
  Making making;
  making.differentiate.optimizer = optimizer;
  making.differentiate.clipNorm = clipNorm;
  making.differentiate.rowUpdates = clipNorm == 0 && microBatches == 1;
  Model plain(path, making);
  making.differentiate.lossScale = 1024;
  making.differentiate.microBatches = microBatches;
  Model scaled(path, making);
  ASSERT_TRUE(plain.valid && scaled.valid);
  scaled.expectSameStates(plain);
  EXPECT_EQ(scaled.stateOf("loss.scale"), 1024);
  EXPECT_EQ(scaled.stateOf("loss.good_steps"), kSteps);
  checkStrategies(scaled, 3);
}

INSTANTIATE_TEST_SUITE_P(
    Models, LossScaling,
    ::testing::Values(std::tuple("lenet-small.onnxtxt", "adam", 0.01, 1),
                      std::tuple("gpt-small.onnxtxt", "lamb", 0.0, 3),
                      std::tuple("dlrm-small.onnxtxt", "sgd:momentum=0", 0.0,
                                 1),
                      std::tuple("dlrm-small.onnxtxt", "adagrad", 0.0, 1)));

/// With one that is far too large, squares overflow, and steps are skipped.
class SkippedSteps : public ::testing::TestWithParam<const char *> {};

TEST_P(SkippedSteps, RandomStrategies) {
  Making making;
  making.differentiate.optimizer = GetParam();
  making.differentiate.lossScale = 0x1p600;
  const std::string path = std::string(FFC_TEST_MODELS) + "/dlrm-small.onnxtxt";
  // The second step is within the bounds of what the scale may be.
  Model recovering(path, making);
  ASSERT_TRUE(recovering.valid);
  EXPECT_EQ(recovering.stateOf("loss.scale"), 0x1p24);
  EXPECT_EQ(recovering.stateOf("loss.skipped_steps"), 1);
  checkStrategies(recovering, 4);
  making.differentiate.fixedLossScale = true;
  making.differentiate.rowUpdates = true;
  Model stuck(path, making);
  ASSERT_TRUE(stuck.valid);
  EXPECT_EQ(stuck.stateOf("loss.scale"), 0x1p600);
  EXPECT_EQ(stuck.stateOf("loss.skipped_steps"), kSteps);
  stuck.expectInitialStates();
  checkStrategies(stuck, 3);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, SkippedSteps,
                         ::testing::Values("sgd:momentum=0", "adam", "adagrad",
                                           "rmsprop", "lamb", "hf_adamw",
                                           "lion"));

std::string
nameOfCase(const ::testing::TestParamInfo<Equality::ParamType> &info) {
  std::string name = std::get<0>(info.param);
  name = name.substr(0, name.find('-'));
  return name + "On" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(
    Models, Equality,
    ::testing::Combine(
        ::testing::Values("mlp-small.onnxtxt", "lenet-small.onnxtxt",
                          "alexnet-small.onnxtxt", "attention-small.onnxtxt",
                          "norm-small.onnxtxt", "resnet-small.onnxtxt",
                          "dlrm-small.onnxtxt", "gpt-small.onnxtxt"),
        ::testing::Values(2, 3, 4, 8)),
    nameOfCase);

// Attention as one operator, with every kind of mask.
INSTANTIATE_TEST_SUITE_P(
    AttentionModels, Equality,
    ::testing::Combine(::testing::Values("vit-small.onnxtxt",
                                         "bert-small.onnxtxt",
                                         "causal-small.onnxtxt"),
                       ::testing::Values(2, 4)),
    nameOfCase);

// Positions that are trained, and rows of two lengths.
INSTANTIATE_TEST_SUITE_P(
    EncoderDecoderModels, Equality,
    ::testing::Combine(::testing::Values("t5-small.onnxtxt"),
                       ::testing::Values(2, 4)),
    nameOfCase);

// What PyTorch's exporter writes today.
INSTANTIATE_TEST_SUITE_P(
    NewerModels, Equality,
    ::testing::Combine(::testing::Values("newer-small.onnxtxt"),
                       ::testing::Values(2, 4)),
    nameOfCase);

INSTANTIATE_TEST_SUITE_P(
    RecurrentModels, Equality,
    ::testing::Combine(::testing::Values("recurrent-small.onnxtxt",
                                         "nmt-small.onnxtxt",
                                         "moe-small.onnxtxt",
                                         "experts-small.onnxtxt",
                                         "scatter-small.onnxtxt"),
                       ::testing::Values(2, 4)),
    nameOfCase);

INSTANTIATE_TEST_SUITE_P(
    ConvolutionalModels, Equality,
    ::testing::Combine(::testing::Values("inception-small.onnxtxt",
                                         "densenet-small.onnxtxt",
                                         "mobilenet-small.onnxtxt",
                                         "unet-small.onnxtxt"),
                       ::testing::Values(4)),
    nameOfCase);

} // namespace
