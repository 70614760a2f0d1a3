//===- TimeBlockTest.cpp - blocks of time steps never change the meaning --===//

#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"
#include "ffc/Reference/Evaluator.h"
#include "ffc/Reference/InitialValues.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace ffc;

namespace {

/// Loss, gradients and what else leaves one training step of the model `file`,
/// whose layers have `timeBlock` steps per operator.
ff::TensorValues outputsOf(const std::string &file, int64_t timeBlock,
                           bool recognises) {
  mlir::MLIRContext context;
  ImportOptions options;
  options.timeBlock = timeBlock;
  auto module =
      importModel(context, std::string(FFC_TEST_MODELS) + "/" + file, options);
  if (!module)
    return {};
  mlir::PassManager passes(&context);
  if (recognises)
    addRecognition(passes);
  addTraining(passes, {});
  if (failed(passes.run(*module)))
    return {};
  auto states = ff::initialStates(*module, 3);
  auto inputs = ff::syntheticInputs(*module, 3, 0);
  auto result = ff::evaluate(*module, *inputs, *states, {});
  return succeeded(result) ? result->outputs : ff::TensorValues();
}

class TimeBlock : public ::testing::TestWithParam<const char *> {};

TEST_P(TimeBlock, ChangesNothing) {
  ff::TensorValues whole = outputsOf(GetParam(), 10, false);
  ASSERT_TRUE(whole.count("loss"));
  for (int64_t block : {1, 2, 3})
    for (bool recognises : {false, true}) {
      SCOPED_TRACE("blocks of " + std::to_string(block));
      ff::TensorValues parts = outputsOf(GetParam(), block, recognises);
      ASSERT_EQ(parts.size(), whole.size());
      for (const auto &[name, value] : whole) {
        SCOPED_TRACE(name);
        ASSERT_EQ(parts[name].shape, value.shape);
        for (size_t i = 0; i < value.data.size(); ++i)
          ASSERT_NEAR(parts[name].data[i], value.data[i], 1e-12);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Models, TimeBlock,
                         ::testing::Values("recurrent-small.onnxtxt",
                                           "nmt-small.onnxtxt"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find('-'));
                         });

} // namespace
