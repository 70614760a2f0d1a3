//===- Load.cpp - reading model files -------------------------------------===//
// Compiled with exceptions: the text parser of ONNX throws on bad numbers.

#include "Load.h"
#include "Skeleton.h"

#include "onnx/defs/parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <exception>

using namespace ffc::importer;
using llvm::StringRef;

/// Limits the recursion of the text parser; protobuf has the same limit.
static constexpr int kMaxNesting = 100;

/// The deepest nesting of brackets outside strings and comments.
static int nestingDepth(StringRef text) {
  int depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '#':
      i = text.find('\n', i);
      break;
    case '"':
      i = text.find('"', i + 1);
      break;
    case '(':
    case '{':
    case '[':
    case '<':
      deepest = std::max(deepest, ++depth);
      break;
    case ')':
    case '}':
    case ']':
    case '>':
      --depth;
      break;
    }
    if (i == StringRef::npos)
      break;
  }
  return deepest;
}

/// Turns "[ParseError at position (line: 3 column: 5)]\nError context: ...\n
/// reason" into a position and the reason.
static LoadError toLoadError(StringRef report) {
  LoadError error;
  StringRef rest = report;
  rest = rest.substr(rest.find("(line: "));
  if (rest.consume_front("(line: ") && !rest.consumeInteger(10, error.line) &&
      rest.consume_front(" column: "))
    rest.consumeInteger(10, error.column);
  StringRef reason = report.rtrim();
  if (size_t context = reason.find("Error context: ");
      context != StringRef::npos)
    reason = reason.substr(reason.find('\n', context)).ltrim();
  error.message = ("not valid ONNX text: " + reason).str();
  return error;
}

static std::optional<LoadError> parseText(StringRef buffer,
                                          onnx::ModelProto &model) {
  // The parser keeps a pointer into the text and stops at a zero byte.
  std::string text = buffer.str();
  if (text.find('\0') != std::string::npos)
    return LoadError{"not ONNX text: it has a zero byte"};
  if (nestingDepth(text) > kMaxNesting)
    return LoadError{
        ("expected at most " + llvm::Twine(kMaxNesting) + " nested brackets")
            .str()};
  onnx::OnnxParser parser(text.c_str());
  try {
    auto status = parser.Parse(model);
    if (!status.IsOK())
      return toLoadError(status.ErrorMessage());
  } catch (const std::exception &failure) {
    return toLoadError(
        parser.ParseError("Bad number (", failure.what(), ").").ErrorMessage());
  }
  return std::nullopt;
}

static std::optional<LoadError> parseBinary(StringRef buffer,
                                            onnx::ModelProto &model) {
  static constexpr char notOnnx[] =
      "not an ONNX model: it is truncated, damaged, or something else";
  std::string skeleton;
  if (!makeSkeleton({buffer.data(), buffer.size()}, skeleton) ||
      skeleton.size() > INT_MAX)
    return LoadError{notOnnx};
  google::protobuf::LogSilencer silence;
  if (!model.ParseFromArray(skeleton.data(), int(skeleton.size())))
    return LoadError{notOnnx};
  return std::nullopt;
}

std::optional<LoadError> ffc::importer::loadModel(const std::string &path,
                                                  onnx::ModelProto &model) {
  // Only regular files: opening a pipe would wait for its writer.
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return LoadError{"cannot read the model: " + code.message()};
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return LoadError{status.type() == llvm::sys::fs::file_type::directory_file
                         ? "expected an ONNX model, found a directory"
                         : "expected an ONNX model, found a special file"};
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return LoadError{"cannot read the model: " + buffer.getError().message()};
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.empty())
    return LoadError{"expected an ONNX model, found an empty file"};
  auto error = StringRef(path).ends_with(".onnxtxt")
                   ? parseText(bytes, model)
                   : parseBinary(bytes, model);
  if (!error && !model.has_graph())
    error = LoadError{"not an ONNX model: it has no graph"};
  return error;
}
