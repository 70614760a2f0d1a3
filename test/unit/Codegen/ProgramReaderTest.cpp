//===- ProgramReaderTest.cpp - what the text of a program does ------------===//

#include "EmitProgramFixture.h"
#include "RankModules.h"

#include "ffc/Codegen/ProgramReader.h"

#include "gmock/gmock.h"

using namespace ffc;
using namespace ffc::codegen;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class ProgramReader : public EmitProgram {
protected:
  void SetUp() override {
    auto files = emit(kLinearOnTwoRanks, linearMeta());
    ASSERT_EQ(files.size(), 2u) << error;
    train = files[0].contents;
    ranks = files[1].contents;
  }

  std::vector<RankActions> read() {
    auto result = readProgram({"train.cpp", train}, {"ranks.inc", ranks});
    EXPECT_TRUE(static_cast<bool>(result));
    if (result)
      return *result;
    error = llvm::toString(result.takeError());
    return {};
  }
  /// The error of reading it with `what` replaced.
  std::string fail(std::string &text, const std::string &what,
                   const std::string &by) {
    replace(text, what, by);
    auto result = readProgram({"train.cpp", train}, {"ranks.inc", ranks});
    return result ? "" : llvm::toString(result.takeError());
  }
  static void replace(std::string &text, const std::string &what,
                      const std::string &by) {
    const size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
  }

  std::string train, ranks;
};

TEST_F(ProgramReader, ListsWhatARankDoes) {
  const std::vector<RankActions> all = read();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].buffers[2],
            "arena 0 f32 row_major [4, 4] at [4, 0] of [8, 4]");
  EXPECT_THAT(all[1].slots,
              ElementsAre("state \"fc.weight\" 0",
                          "state \"fc.weight/momentum\" 1", "input \"x\" 2",
                          "input \"target\" 4", "loss 5"));
  EXPECT_THAT(
      all[1].step,
      ElementsAre(
          "0 \"/fc/Gemm\"#0@1.0 MatMul (2, 0, -, -) (3) 1.0 1.0 Reals{} 0 0",
          "offer \"out/y\" 3", "1 \"loss\"#0@1.0 MseForward (3, 4) (5)",
          "2 \"loss\"#0@0.1 all_reduce \"loss\" group 0: 5 -> 5 sum library "
          "root 0 starts 1",
          "wait for 2 \"loss\"#0@0.1 all_reduce \"loss\" group 0: 5 -> 5 sum "
          "library root 0 starts 1",
          "3 \"loss.grad\"#0@1.0 MseBackward (3, 4) (6)",
          "4 \"/fc/Gemm.grad_b\"#0@1.0 MatMul (2, 6, -, -) (7) 1.0 1.0 "
          "Reals{} 1 0",
          "5 \"fc.weight.update\"#0@0.1 all_reduce \"fc.weight.update <- "
          "fc.weight.grad\" group 0: 7 -> 7 sum library root 0 starts 1",
          "wait for 5 \"fc.weight.update\"#0@0.1 all_reduce "
          "\"fc.weight.update <- fc.weight.grad\" group 0: 7 -> 7 sum library "
          "root 0 starts 1",
          "offer \"grad/fc.weight\" 7",
          "6 \"fc.weight.update\"#0@1.0 SgdUpdate (0, 7, 1) (0, 1) 0.9 0"));
}

TEST_F(ProgramReader, SeesWhatIsMissingInTheText) {
  replace(train, "    weight_grad_sum();\n", "");
  const std::vector<RankActions> all = read();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].step.size(), 9u);
}

TEST_F(ProgramReader, SeesOperandsThatAreExchanged) {
  replace(train, "{x, weight, absent, absent}", "{weight, x, absent, absent}");
  EXPECT_THAT(read().at(0).step.front(), HasSubstr("MatMul (0, 2, -, -) (3)"));
}

TEST_F(ProgramReader, RejectsTextThatIsNoProgram) {
  EXPECT_EQ(fail(train, "class Train final", "class Model final"),
            "train.cpp:" +
                std::to_string(std::count(train.begin(), train.end(), '\n')) +
                ": expected 'class Train final : public Program', found the "
                "end of the file");
}

TEST_F(ProgramReader, RejectsUnknownMembers) {
  EXPECT_THAT(fail(train, "    weight_grad_sum();", "    weight_sum();"),
              HasSubstr("expected a member of its class, found 'weight_sum'"));
}

TEST_F(ProgramReader, RejectsUnknownMethods) {
  EXPECT_THAT(fail(train, "loss.backward();", "loss.back();"),
              HasSubstr("expected a method of its class, found 'back'"));
}

TEST_F(ProgramReader, RejectsUnknownObjects) {
  EXPECT_THAT(fail(train, "loss.backward();", "lost.backward();"),
              HasSubstr("expected an object of a layer, found 'lost'"));
}

TEST_F(ProgramReader, RejectsMembersOfOtherTypes) {
  EXPECT_THAT(fail(train, "  Dump dump{*this};", "  Tensor dump{*this};"),
              HasSubstr("expected a member of a layer, found 'Tensor'"));
}

TEST_F(ProgramReader, RejectsShardsThatAreNotThere) {
  EXPECT_THAT(fail(ranks, "1, 0, 0, 0, 1, 0, own(1), 0, 0, 0, 0,",
                   "1, 0, 0, 0, 1, 0, own(1), 0, 7, 0, 0,"),
              HasSubstr("expected a shard of 'weight'"));
}

TEST_F(ProgramReader, RejectsColumnsThatAreNotThere) {
  EXPECT_THAT(fail(ranks, "own(0)", "own(12)"),
              HasSubstr("ranks.inc:11: expected the number of a column"));
}

TEST_F(ProgramReader, RejectsListsThatEndEarly) {
  EXPECT_THAT(fail(ranks,
                   "  /* loss.mse_backward */ 1, 4, 0, 0, 1, 3, own(1), 0, 0, "
                   "0, 0,\n",
                   ""),
              HasSubstr("expected so many numbers as it says"));
}

TEST_F(ProgramReader, RejectsRowsThatNobodyReads) {
  EXPECT_THAT(fail(train, "  Dump dump{*this};\n", ""), HasSubstr("ranks.inc"));
}

TEST_F(ProgramReader, RejectsWaitsForNothing) {
  EXPECT_THAT(fail(ranks, "    wait, 0,", "    wait, 3,"),
              HasSubstr("expected communication that was started before"));
}

TEST_F(ProgramReader, RejectsActionsOfNoKind) {
  EXPECT_THAT(fail(ranks, "    collective, 5,", "    collection, 5,"),
              HasSubstr("expected copies, exchange, collective or wait, found "
                        "'collection'"));
}

TEST_F(ProgramReader, RejectsLoopsWithoutEnd) {
  // As many numbers as before.
  EXPECT_THAT(fail(ranks,
                   "    collective, 5, 0, 1, 0, all_reduce, 0, 7, 7, sum, "
                   "library, 0, none, 1,",
                   "    copies, 5, 0, 0, 2, 1, 99999999999, replace, 5, 5, "
                   "replace, 5, 5, 0,"),
              HasSubstr("expected at most"));
}

} // namespace
