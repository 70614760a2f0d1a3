//===- OpTable.cpp - the operators that can be imported -------------------===//

#include "OpTable.h"

#include "llvm/ADT/StringMap.h"

#include <climits>

using namespace ffc::importer;

const OpInfo *ffc::importer::lookupOp(llvm::StringRef opType) {
  static const llvm::StringMap<OpInfo> table = {
      {"Add", {importBinary, 2, 2}},
      {"AveragePool", {importAveragePool, 1, 1}},
      {"Cast", {importCast, 1, 1}},
      {"Concat", {importConcat, 1, INT_MAX}},
      {"Constant", {importConstant, 0, 0}},
      {"ConstantOfShape", {importConstantOfShape, 1, 1}},
      {"Conv", {importConv, 2, 3, 0b110}},
      {"Dropout", {importDropout, 1, 3}},
      {"Flatten", {importFlatten, 1, 1}},
      {"Gemm", {importGemm, 2, 3, 0b110}},
      {"GlobalAveragePool", {importGlobalAveragePool, 1, 1}},
      {"Identity", {importIdentity, 1, 1}},
      {"If", {importIf, 1, 1}},
      {"LRN", {importLrn, 1, 1}},
      {"LeakyRelu", {importUnary, 1, 1}},
      {"MatMul", {importMatMul, 2, 2, 0b10}},
      {"MaxPool", {importMaxPool, 1, 1}},
      {"Mul", {importBinary, 2, 2}},
      {"Pad", {importPad, 1, 3}},
      {"Relu", {importUnary, 1, 1}},
      {"Reshape", {importReshape, 2, 2}},
      {"Shape", {importShape, 1, 1}},
      {"Sigmoid", {importUnary, 1, 1}},
      {"Size", {importSize, 1, 1}},
      {"Softmax", {importSoftmax, 1, 1}},
      {"Squeeze", {importSqueeze, 1, 2}},
      {"Sub", {importBinary, 2, 2}},
      {"Tanh", {importUnary, 1, 1}},
      {"Transpose", {importTranspose, 1, 1}},
      {"Unsqueeze", {importUnsqueeze, 1, 2}},
  };
  auto found = table.find(opType);
  return found == table.end() ? nullptr : &found->second;
}
