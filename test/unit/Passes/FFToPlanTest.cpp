//===- FFToPlanTest.cpp - what the planner's graph wants of a module ------===//

#include "ffc/Passes/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace ffc;
using ::testing::HasSubstr;

namespace {

/// What is wrong with two operators that are called so, of which the second has
/// this owner.
std::string errorOf(const std::string &first, const std::string &second,
                    const std::string &owner) {
  mlir::MLIRContext context;
  context.loadDialect<ff::FFDialect, mlir::func::FuncDialect>();
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          error = diagnostic.str();
                                          return mlir::success();
                                        });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @main(%x: tensor<4xf32> {ff.name = \"x\"}) {\n"
      "  %a = ff.unary relu(%x) : tensor<4xf32> -> tensor<4xf32> loc(\"" +
          first +
          "\")\n"
          "  %b = ff.unary tanh(%a) {ff.owner = \"" +
          owner +
          "\", ff.role = \"gradient\"}\n"
          "      : tensor<4xf32> -> tensor<4xf32> loc(\"" +
          second +
          "\")\n"
          "  ff.output %b as \"out/y\" : tensor<4xf32>\n"
          "  return\n"
          "}\n",
      &context);
  EXPECT_TRUE(module);
  if (module)
    (void)buildPlanGraph(*module);
  return error;
}

TEST(FFToPlan, OwnersComeBefore) {
  EXPECT_EQ(errorOf("a", "b", "a"), "");
  EXPECT_THAT(errorOf("a", "b", "b"),
              HasSubstr("expected owner 'b' before 'b'"));
  EXPECT_THAT(errorOf("a", "b", "c"),
              HasSubstr("expected owner 'c' before 'b'"));
}

TEST(FFToPlan, NamesDiffer) {
  EXPECT_THAT(errorOf("a", "a", "a"),
              HasSubstr("expected a name of its own, found 'a' again"));
}

} // namespace
