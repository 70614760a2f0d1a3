//===- OperandUses.cpp - what operators take their operands for -----------===//

#include "OperandUses.h"

#include "Graph.h"

#include "llvm/ADT/StringSwitch.h"

using namespace ffc::importer;
using llvm::StringRef;
using onnx::NodeProto;
using Use = Dataflow::Use;

const OpInfo *ffc::importer::infoOf(const NodeProto &node) {
  return lookupOp(operatorName(node));
}

bool ffc::importer::isWeightOperand(const Use &use) {
  const OpInfo *info = infoOf(*use.node);
  return info && use.operand < 32 && (info->weightOperands >> use.operand & 1);
}

bool ffc::importer::isProduct(const NodeProto &node) {
  return llvm::StringSwitch<bool>(operatorName(node))
      .Cases({"MatMul", "Gemm", "Einsum", "com.microsoft.FusedMatMul"}, true)
      .Default(false);
}

bool ffc::importer::isLookup(const NodeProto &node) {
  return llvm::StringSwitch<bool>(operatorName(node))
      .Cases({"Gather", "ffc.ReduceBags"}, true)
      .Default(false);
}

bool ffc::importer::isRecurrent(const NodeProto &node) {
  return llvm::StringSwitch<bool>(operatorName(node))
      .Cases({"LSTM", "GRU", "RNN"}, true)
      .Default(false);
}

bool ffc::importer::isRunningStatistic(const Use &use) {
  return operatorName(*use.node) == "BatchNormalization" && use.operand >= 3;
}

bool ffc::importer::endsGradients(const NodeProto &node) {
  const std::string type = operatorName(node);
  if (type == "Cast")
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.name() == "to" &&
          !isFloatType(static_cast<int32_t>(attribute.i())))
        return true;
  return llvm::StringSwitch<bool>(type)
      .Cases({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"},
             true)
      .Cases({"And", "Or", "Xor", "Not", "IsNaN", "IsInf", "NonZero"}, true)
      .Cases({"ArgMax", "ArgMin", "Hardmax", "Sign", "Floor", "Ceil", "Round"},
             true)
      .Cases({"Shape", "Size", "If"}, true)
      .Default(false);
}

bool ffc::importer::isSetting(const Use &use) {
  const std::string type = operatorName(*use.node);
  if (type == "Range" || type == "ConstantOfShape")
    return true;
  if (use.operand == 0)
    return type == "Loop";
  const OpInfo *info = infoOf(*use.node);
  if (info && info->movesElements && type != "Concat")
    return true;
  if (type == "Loop")
    return use.operand == 1;
  return StringRef(type).starts_with("Reduce") ||
         llvm::StringSwitch<bool>(type)
             .Cases({"Clip", "Resize", "Upsample", "Dropout", "OneHot"}, true)
             .Cases({"TopK", "CumSum", "RotaryEmbedding", "CastLike"}, true)
             .Case("RoiAlign", true) // regions of an image
             .Default(false);
}

bool ffc::importer::isNormalization(const NodeProto &node) {
  return StringRef(node.op_type()).ends_with("Normalization") && infoOf(node);
}

bool ffc::importer::isScale(const Use &use) {
  const bool skips =
      operatorName(*use.node) == "com.microsoft.SkipLayerNormalization";
  return use.operand == (skips ? 2 : 1);
}

StringRef ffc::importer::nameOfWeight(const Use &use) {
  const std::string type = operatorName(*use.node);
  if (isLookup(*use.node))
    return "table of";
  if (type == "PRelu")
    return "slope of";
  if (isNormalization(*use.node))
    return isScale(use) ? "scale of" : "bias of";
  if (isRecurrent(*use.node))
    return use.operand == 3 ? "bias of" : "weight of";
  if (type == "com.microsoft.BiasGelu" || type == "com.microsoft.FastGelu")
    return "bias of";
  return use.operand >= 2 && type != "Einsum" ? "bias of" : "weight of";
}

StringRef ffc::importer::nameOfFactor(const Use &use) {
  return llvm::StringSwitch<StringRef>(operatorName(*use.node))
      .Cases({"Mul", "Div"}, "scale at")
      .Cases({"Add", "Sub", "Sum"}, "bias at")
      .Case("Pow", use.operand == 1 ? "exponent at" : "base at")
      .Default("operand of");
}
