//===- OptionErrorTest.cpp - what options of an import may not be ---------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::HasSubstr;

namespace {

class OptionErrorTest : public ImportFixture {
protected:
  const char *graph = "g (float[N, 2] x) => (float[N, 2] y) { y = Relu(x) }";
};

TEST_F(OptionErrorTest, TooManyTimeBlocks) {
  options.timeBlock = 1;
  EXPECT_THAT(
      importGraph("g (float[1000000, 2, 3] x, float[1, 16, 3] w, "
                  "float[1, 16, 4] r) => (float[2] y) "
                  "{ y = LSTM<hidden_size = 4>(x, w, r) }"),
      HasSubstr("node 'y' (LSTM): expected at most 10000 blocks of time "
                "steps, found 1000000; give a larger --time-block"));
}

TEST_F(OptionErrorTest, DimOfNoInput) {
  options.dims["M"] = 3;
  EXPECT_THAT(importGraph(graph),
              HasSubstr("--dim M=3: no input has a dimension of that name, "
                        "found N"));
}

TEST_F(OptionErrorTest, DimOfFixedInputs) {
  options.dims["M"] = 3;
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) { y = Relu(x) }"),
              HasSubstr("--dim M=3: the inputs have no named dimensions; "
                        "INPUT:AXIS=N gives one by its place, inputs are x"));
}

TEST_F(OptionErrorTest, DimIsPositive) {
  options.dims["N"] = 0;
  EXPECT_THAT(importGraph(graph),
              HasSubstr("--dim N=0: expected a positive extent"));
}

TEST_F(OptionErrorTest, BatchIsPositive) {
  options.batchSize = -1;
  EXPECT_THAT(importGraph(graph),
              HasSubstr("--batch-size -1: expected a positive extent"));
}

TEST_F(OptionErrorTest, BatchContradictsDim) {
  options.batchSize = 2;
  options.dims["N"] = 3;
  EXPECT_THAT(importGraph(graph),
              HasSubstr("--batch-size 2 and --dim N=3 contradict each other"));
}

TEST_F(OptionErrorTest, NoBatch) {
  options.batchSize = 2;
  EXPECT_THAT(importGraph("g () => (float y) "
                          "{ y = Constant<value_float = 1.0>() }"),
              HasSubstr("--batch-size 2: expected an input that is read and "
                        "has a batch dimension, found none; leave the flag"));
}

TEST_F(OptionErrorTest, Init) {
  options.init = "magic";
  EXPECT_THAT(importGraph(graph),
              HasSubstr("--init magic: expected glorot-uniform"));
}

TEST_F(OptionErrorTest, Dropout) {
  options.dropout = 1.5;
  EXPECT_THAT(importGraph(graph),
              HasSubstr("--dropout 1.5: expected a ratio from 0 to below 1"));
}

} // namespace
