//===- ModuleTextTest.cpp - text that threads make ------------------------===//

#include "ffc/IR/ModuleText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;

static std::string plainText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, ffc::moduleTextFlags());
  return text + '\n';
}

TEST(ModuleText, IsWhatOneThreadPrints) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect>();
  for (const char *text :
       {"module {}", "module @named attributes {t.note = \"a\\nb\"} {}",
        R"(module attributes {t.map = affine_map<(d0) -> (d0 + 1)>} {
             func.func private @a(tensor<2xf32>)
             func.func @b(%x: tensor<2xf32>) -> tensor<2xf32> {
               %y = func.call @c(%x) {t.note = "two\nlines"}
                   : (tensor<2xf32>) -> tensor<2xf32> loc("layer 1")
               return %y : tensor<2xf32>
             }
             func.func @c(%x: tensor<2xf32>) -> tensor<2xf32> {
               return %x : tensor<2xf32> loc("end")
             } loc("c")
           } loc("model"))"}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    EXPECT_EQ(ffc::moduleText(*module), plainText(*module));
    EXPECT_FALSE(context.isMultithreadingEnabled());
  }
}
