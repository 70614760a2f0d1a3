//===- BagTest.cpp - loops over bags of rows ------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class BagTest : public ImportFixture {
protected:
  /// EmbeddingBag over indices i and offsets o as PyTorch's exporter by tracing
  /// writes it; `reduce` makes y of rows, and `body` may change the rest.
  std::string bags(const std::string &reduce, const std::string &offsets,
                   const std::string &rows = "Gather(w, s)") {
    return importGraph(
        "g (float[9, 4] w, int64[6] i, " + offsets +
            ") => (float[3, 4] r) {\n"
            "  length = Constant<value_ints = [6]>()\n"
            "  from = Constant<value_ints = [1]>()\n"
            "  to = Constant<value_ints = [9]>()\n"
            "  first = Constant<value_ints = [0]>()\n"
            "  yes = Constant<value = bool {1}>()\n"
            "  count = Constant<value = int64 {3}>()\n"
            "  starts = Concat<axis = 0>(o, length)\n"
            "  ends = Slice(starts, from, to, first)\n"
            "  r = Loop(count, yes)<body = b (int64 n, bool c) => "
            "(bool d, float[4] y) {\n"
            "    a = Gather<axis = 0>(starts, n)\n"
            "    z = Gather<axis = 0>(ends, n)\n"
            "    a1 = Unsqueeze(a, first)\n"
            "    z1 = Unsqueeze(z, first)\n"
            "    s = Slice(i, a1, z1, first)\n"
            "    t = " +
            rows + "\n    y = " + reduce +
            "<keepdims = 0>(t, first)\n"
            "    d = Cast<to = 9>(yes)\n"
            "  }>\n"
            "}",
        18);
  }
};

TEST_F(BagTest, OfOneSize) {
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 2, 4}"),
              AllOf(HasSubstr("-> tensor<3x2x4xf32>"),
                    HasSubstr("ff.reduce_sum"),
                    Not(HasSubstr("ff.embedding_backward"))));
}

// The number of a row's bag is counted.
TEST_F(BagTest, WhereverTheyBegin) {
  EXPECT_THAT(bags("ReduceSum", "int64[3] o"),
              AllOf(HasSubstr("ff.cum_sum"), HasSubstr("ff.embedding(%"),
                    HasSubstr("(tensor<6xi64>, tensor<6x4xf32>) -> "
                              "tensor<3x4xf32>")));
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 1, 4}"),
              HasSubstr("ff.embedding_backward"));
}

TEST_F(BagTest, NeedBounds) {
  EXPECT_THAT(importGraph("g (float[6, 4] r, int64[3] s, int64[4] e, "
                          "int64 n = {4}) => (float[1] y) "
                          "{ y = ffc.ReduceBags(r, s, e, n) }"),
              HasSubstr("expected bounds of 4 bags, found shapes 3 and 4"));
}

TEST_F(BagTest, OtherLoopsAreUnrolled) {
  EXPECT_THAT(bags("ReduceSum", "int64[3] o = {0, 1, 4}", "Gather(w, i)"),
              AllOf(HasSubstr("ff.concat"), Not(HasSubstr("ff.cum_sum"))));
}

} // namespace
