//===- TestModel.cpp - importing models written in a test -----------------===//

#include "TestModel.h"

#include "ffc/Import/Parameters.h"

#include "mlir/IR/Diagnostics.h"
#include "onnx/defs/parser.h"
#include "llvm/Support/FileSystem.h"

#include <fstream>
#include <sstream>

using namespace ffc;

ImportFixture::ImportFixture() {
  llvm::SmallString<128> name;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("ffc-import", name));
  folder = name.str().str();
}

ImportFixture::~ImportFixture() { llvm::sys::fs::remove_directories(folder); }

std::string ImportFixture::write(const std::string &name,
                                 const std::string &bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::string ImportFixture::read(const std::string &name) const {
  std::ostringstream bytes;
  bytes << std::ifstream(path(name), std::ios::binary).rdbuf();
  return bytes.str();
}

std::string
ImportFixture::collect(llvm::function_ref<void(llvm::raw_ostream &)> read) {
  std::string result;
  llvm::raw_string_ostream out(result);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    bool isError = d.getSeverity() == mlir::DiagnosticSeverity::Error;
    out << (isError ? "error: " : "warning: ") << d.getLocation() << ": " << d
        << "\n";
  });
  read(out);
  for (size_t at; (at = result.find(folder + "/")) != std::string::npos;)
    result.erase(at, folder.size() + 1);
  return result;
}

std::string ImportFixture::importFile(const std::string &path) {
  return collect([&](llvm::raw_ostream &out) {
    if (auto module = importModel(context, path, options))
      module->print(out);
  });
}

std::string ImportFixture::listFile(const std::string &path) {
  return collect([&](llvm::raw_ostream &out) {
    auto found = listParameters(context, path, options);
    if (!found)
      return;
    for (const ListedValue &value : found->values)
      out << (value.isTrained ? "" : "-") << value.name << ": " << value.why
          << (value.parameter.empty() ? "" : " = " + value.parameter) << "\n";
    for (const MissingParameter &missing : found->missing)
      out << "?" << missing.name << ": " << missing.where << "\n";
  });
}

std::string ImportFixture::importText(const std::string &text) {
  return importFile(write("m.onnxtxt", text));
}

static std::string header(int opset) {
  return "<ir_version: 7, opset_import: [\"\" : " + std::to_string(opset) +
         "]>\n";
}

std::string ImportFixture::importGraph(const std::string &graph, int opset) {
  return importText(header(opset) + graph);
}

std::string ImportFixture::importProto(const onnx::ModelProto &model) {
  return importFile(write("m.onnx", model.SerializeAsString()));
}

std::string ImportFixture::listGraph(const std::string &graph, int opset) {
  return listFile(write("m.onnxtxt", header(opset) + graph));
}

std::string ImportFixture::listProto(const onnx::ModelProto &model) {
  return listFile(write("m.onnx", model.SerializeAsString()));
}

onnx::ModelProto ffc::parseModel(const std::string &text) {
  onnx::ModelProto model;
  std::string whole = header(13) + text;
  auto status = onnx::OnnxParser::Parse(model, whole.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}
