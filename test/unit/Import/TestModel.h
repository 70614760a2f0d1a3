//===- TestModel.h - importing models written in a test ---------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_IMPORT_TESTMODEL_H
#define FFC_TEST_UNIT_IMPORT_TESTMODEL_H

#include "ffc/Import/Import.h"

#include "onnx/onnx_pb.h"
#include "gtest/gtest.h"

namespace ffc {

/// A folder of files that is removed with the fixture.
class ImportFixture : public testing::Test {
protected:
  ImportFixture();
  ~ImportFixture() override;

  mlir::MLIRContext context;
  ImportOptions options;
  std::string folder;

  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  std::string write(const std::string &name, const std::string &bytes) const;
  std::string read(const std::string &name) const;

  /// Imports a file: the module as text, or "error: ..." with all diagnostics,
  /// the folder's name left out.
  std::string importFile(const std::string &path);
  /// Imports ONNX text.
  std::string importText(const std::string &text);
  /// Imports a graph in ONNX text, with the header of opset `opset`.
  std::string importGraph(const std::string &graph, int opset = 13);
  std::string importProto(const onnx::ModelProto &model);

  /// What `ffc parameters` lists of a file: "NAME: why" of a value that is
  /// trained, with "-" before it of one that is not, then "?NAME: where" of a
  /// parameter that is missing; or errors and warnings as importFile has them.
  std::string listFile(const std::string &path);
  /// The same of a graph in ONNX text.
  std::string listGraph(const std::string &graph, int opset = 13);
  std::string listProto(const onnx::ModelProto &model);

private:
  /// Calls `read` and returns the diagnostics and what it writes, without the
  /// folder's name.
  std::string collect(llvm::function_ref<void(llvm::raw_ostream &)> read);
};

/// How often `what` is in `text`.
inline size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++found;
  return found;
}

/// A model of opset 13 from the graph in `text`.
onnx::ModelProto parseModel(const std::string &text);

} // namespace ffc

#endif // FFC_TEST_UNIT_IMPORT_TESTMODEL_H
