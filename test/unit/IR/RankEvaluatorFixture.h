//===- RankEvaluatorFixture.h - small rank modules to run -------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_IR_RANKEVALUATORFIXTURE_H
#define FFC_TEST_UNIT_IR_RANKEVALUATORFIXTURE_H

#include "ffc/IR/Rank.h"
#include "ffc/Reference/RankEvaluator.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ffc::rank::testing {

/// y = 2 x.
inline void twice(const ff::ReferenceCall &call) {
  ff::forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    call.outs[0].at(i) = 2 * call.ins[0].at(i);
  });
}

/// y[i] = x[i-1] + x[i] + x[i+1].
inline void stencil(const ff::ReferenceCall &call) {
  int64_t extent = call.ins[0].global()[0];
  ff::forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    double sum = 0;
    for (int64_t j = i[0] - 1; j <= i[0] + 1; ++j)
      if (j >= 0 && j < extent)
        sum += call.ins[0].at({j});
    call.outs[0].at(i) = sum;
  });
}

/// y = step.
inline void step(const ff::ReferenceCall &call) {
  ff::forEachIndex(call.tile, [&](llvm::ArrayRef<int64_t> i) {
    call.outs[0].at(i) = call.context.step;
  });
}

inline ff::TensorValue counting(plan::Shape shape) {
  ff::TensorValue value{shape, {}};
  for (int64_t i = 0; i < plan::numElements(shape); ++i)
    value.data.push_back(i + 1);
  return value;
}

class RankEvaluatorTest : public ::testing::Test {
protected:
  /// Registers the kernels above, once for all suites.
  static void SetUpTestSuite() {
    static const bool registered = [] {
      ff::registerReference("test.twice", twice);
      ff::registerReference("test.stencil", stencil);
      ff::registerReference("test.step", step);
      return true;
    }();
    (void)registered;
  }

  RankEvaluatorTest()
      : handler(&context, [this](mlir::Diagnostic &diag) {
          messages += diag.str() + "\n";
          for (mlir::Diagnostic &note : diag.getNotes())
            messages += note.str() + "\n";
        }) {
    context.loadDialect<RankDialect>();
  }

  /// A class of `ranks` out of two with 256 bytes in each section.
  static std::string classOf(const std::string &ranks,
                             const std::string &body) {
    std::string name = "class" + ranks.substr(0, 1);
    return "rank.func @" + name + " attributes {ranks = array<i64: " + ranks +
           ">, world = 2 : i64, groups = [array<i64: 0, 1>], "
           "state_bytes = #rank.per<[256]>, arena_bytes = #rank.per<[256]>, "
           "flops = #rank.per<[0]>} {\n" +
           body + "}\n";
  }

  RankEvaluator load(const std::string &text, bool poison = true) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << messages;
    RankEvaluator ranks(*module, poison);
    ranks.setInput("x", counting({8}));
    return ranks;
  }

  /// Runs one step that must fail with a message that contains `expected`.
  void expectError(const std::string &text, const std::string &expected) {
    RankEvaluator ranks = load(text);
    EXPECT_TRUE(failed(ranks.step({})));
    EXPECT_THAT(messages, ::testing::HasSubstr(expected));
  }

  mlir::MLIRContext context;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Each rank holds half of x.
inline const std::string kHalves = R"(
  %x = rank.buffer "x" "arena" at <[0]> "row_major"
      region <[1, 0, 4], [1, 4, 8]> of [8] : <f32>
  rank.input "x" %x : <f32>
)";
inline const std::string kTask = " task <[0, 0, 0, 0]> ";
inline const std::string kF32ToF32 =
    ": (!rank.buffer<f32>) -> !rank.buffer<f32>\n";

/// A buffer with region rows `region` of a tensor of eight.
inline std::string buffer(const std::string &name, const std::string &region,
                          int offset, const std::string &type = "f32") {
  return "  %" + name + " = rank.buffer \"" + name + "\" \"arena\" at <[" +
         std::to_string(offset) + "]> \"row_major\" region <" + region +
         "> of [8] : <" + type + ">\n";
}

inline std::string swap(const std::string &send, const std::string &receive,
                        const std::string &tag = "0") {
  return "  %swap = rank.exchange send(" + send + ") to <[1], [0]> receive(" +
         receive + ") from <[1], [0]> tag " + tag + kTask + kF32ToF32;
}

inline std::string collective(const std::string &kind,
                              const std::string &reduce, const std::string &src,
                              const std::string &dst, int root = 0) {
  return "  %event = rank.collective \"" + kind + "\" \"" + reduce + "\" " +
         src + " -> " + dst + " group <[0]> root " + std::to_string(root) +
         kTask + ": <f32>, <f32>\n";
}

inline std::string kernel(const std::string &callee, const std::string &in,
                          const std::string &out, const std::string &tile) {
  return "  rank.kernel \"" + callee + "\"(" + in + ") -> (" + out +
         ") tile <" + tile + "> {} " + kTask + kF32ToF32;
}

} // namespace ffc::rank::testing

#endif // FFC_TEST_UNIT_IR_RANKEVALUATORFIXTURE_H
