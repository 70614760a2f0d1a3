//===- ModelGraph.h - training graphs of models for tests -------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_SEARCH_MODELGRAPH_H
#define FFC_TEST_UNIT_SEARCH_MODELGRAPH_H

#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

namespace ffc::search::testing {

/// `path` begins at the project's folder; a test fails if it cannot be read.
inline plan::Graph graphOf(const std::string &path,
                           const ImportOptions &importing, bool fuses = true) {
  mlir::MLIRContext context;
  auto module =
      importModel(context, std::string(FFC_SOURCE_DIR) + "/" + path, importing);
  mlir::PassManager passes(&context);
  addRecognition(passes);
  addTraining(passes, {});
  if (fuses)
    addFusion(passes);
  if (!module || failed(passes.run(*module))) {
    ADD_FAILURE() << path;
    return {};
  }
  auto planned = buildPlanGraph(*module);
  EXPECT_TRUE(succeeded(planned)) << path;
  return succeeded(planned) ? std::move(planned->graph) : plan::Graph();
}

} // namespace ffc::search::testing

#endif // FFC_TEST_UNIT_SEARCH_MODELGRAPH_H
