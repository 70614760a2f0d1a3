//===- OpVersions.cpp - forms that operators have had ---------------------===//

#include "OpVersions.h"

#include "Constant.h"
#include "Graph.h"

#include "llvm/ADT/StringExtras.h"

#include <climits>

using namespace ffc::importer;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// What an operator looks like in some of its versions.
struct OpForm {
  const char *opType;
  /// The versions, each the opset that brought it, ascending. What changed
  /// between them are element types and words.
  const char *versions;
  int mostOperands;
  const char *attributes;
};
} // namespace

static constexpr int kMany = INT_MAX;

/// In the order of names and of versions. test/tools/op_versions.py writes the
/// rows.
static const OpForm kForms[] = {
    // clang-format off
    // rows: begin
    {"Abs", "6 13", 1, ""},
    {"Add", "7 13 14", 2, ""},
    {"And", "7", 2, ""},
    {"ArgMax", "1 11", 1, "axis keepdims"},
    {"ArgMax", "12 13", 1, "axis keepdims select_last_index"},
    {"ArgMin", "1 11", 1, "axis keepdims"},
    {"ArgMin", "12 13", 1, "axis keepdims select_last_index"},
    {"Attention", "23", 6, "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision"},
    {"Attention", "24", 7, "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision"},
    {"Attention", "25", 7, "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale softcap softmax_precision"},
    {"AveragePool", "7", 1, "auto_pad count_include_pad kernel_shape pads strides"},
    {"AveragePool", "10 11", 1, "auto_pad ceil_mode count_include_pad kernel_shape pads strides"},
    {"AveragePool", "19 22", 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", "7", 5, "epsilon momentum spatial"},
    {"BatchNormalization", "9", 5, "epsilon momentum"},
    {"BatchNormalization", "14 15", 5, "epsilon momentum training_mode"},
    {"Cast", "6 9 13", 1, "to"},
    {"Cast", "19 21 23", 1, "saturate to"},
    {"Cast", "24 25 28", 1, "round_mode saturate to"},
    {"CastLike", "15", 2, ""},
    {"CastLike", "19 21 23", 2, "saturate"},
    {"CastLike", "24 25", 2, "round_mode saturate"},
    {"Ceil", "6 13", 1, ""},
    {"Celu", "12 28", 1, "alpha"},
    {"Clip", "6", 1, "max min"},
    {"Clip", "11 12 13", 3, ""},
    {"Compress", "9 11 28", 2, "axis"},
    {"Concat", "4 11 13", kMany, "axis"},
    {"ConcatFromSequence", "11", 1, "axis new_axis"},
    {"Constant", "1 9", 0, "value"},
    {"Constant", "11", 0, "sparse_value value"},
    {"Constant", "12 13 19 21 23 24 25", 0, "sparse_value value value_float value_floats value_int value_ints value_string value_strings"},
    {"ConstantOfShape", "9 20 21 23 24 25", 1, "value"},
    {"Conv", "1 11 22", 3, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", "1 11 22", 3, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"Cos", "7 22", 1, ""},
    {"CumSum", "11 14", 2, "exclusive reverse"},
    {"DepthToSpace", "1", 1, "blocksize"},
    {"DepthToSpace", "11 13 28", 1, "blocksize mode"},
    {"Div", "7 13 14", 2, ""},
    {"Dropout", "7 10", 1, "ratio"},
    {"Dropout", "12 13 22", 3, "seed"},
    {"Einsum", "12 28", kMany, "equation"},
    {"Elu", "6 22", 1, "alpha"},
    {"Equal", "7 11 13 19", 2, ""},
    {"Erf", "9 13", 1, ""},
    {"Exp", "6 13", 1, ""},
    {"Expand", "8 13", 2, ""},
    {"EyeLike", "9 22", 1, "dtype k"},
    {"Flatten", "1 9 11 13 21 23 24 25", 1, "axis"},
    {"Floor", "6 13", 1, ""},
    {"GRU", "7", 6, "activation_alpha activation_beta activations clip direction hidden_size linear_before_reset"},
    {"GRU", "14 22", 6, "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset"},
    {"Gather", "1 11 13", 2, "axis"},
    {"GatherElements", "11 13", 2, "axis"},
    {"GatherND", "11", 2, ""},
    {"GatherND", "12 13", 2, "batch_dims"},
    {"Gelu", "20", 1, "approximate"},
    {"Gemm", "7 9 11 13", 3, "alpha beta transA transB"},
    {"GlobalAveragePool", "1 22", 1, ""},
    {"GlobalMaxPool", "1 22", 1, ""},
    {"Greater", "7 9 13", 2, ""},
    {"GreaterOrEqual", "12 16", 2, ""},
    {"GroupNormalization", "21", 3, "epsilon num_groups stash_type"},
    {"HardSigmoid", "6 22", 1, "alpha beta"},
    {"HardSwish", "14 22", 1, ""},
    {"Hardmax", "1 11 13", 1, "axis"},
    {"Identity", "1 13 14 16 19 21 23 24 25", 1, ""},
    {"If", "1 11 13 16 19 21 23 24 25", 1, "else_branch then_branch"},
    {"InstanceNormalization", "6 22", 3, "epsilon"},
    {"IsInf", "10 20", 1, "detect_negative detect_positive"},
    {"IsNaN", "9 13 20", 1, ""},
    {"LRN", "1 13", 1, "alpha beta bias size"},
    {"LSTM", "7", 8, "activation_alpha activation_beta activations clip direction hidden_size input_forget"},
    {"LSTM", "14 22", 8, "activation_alpha activation_beta activations clip direction hidden_size input_forget layout"},
    {"LayerNormalization", "17", 3, "axis epsilon stash_type"},
    {"LeakyRelu", "6 16", 1, "alpha"},
    {"Less", "7 9 13", 2, ""},
    {"LessOrEqual", "12 16", 2, ""},
    {"Log", "6 13", 1, ""},
    {"LogSoftmax", "1 11 13", 1, "axis"},
    {"Loop", "1 11 13 16 19 21 23 24 25", kMany, "body"},
    {"LpNormalization", "1 22", 1, "axis p"},
    {"MatMul", "1 9 13", 2, ""},
    {"Max", "6 8 12 13", kMany, ""},
    {"MaxPool", "1", 1, "auto_pad kernel_shape pads strides"},
    {"MaxPool", "8", 1, "auto_pad kernel_shape pads storage_order strides"},
    {"MaxPool", "10 11 12 22", 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"Mean", "6 8 13", kMany, ""},
    {"MeanVarianceNormalization", "9 13", 1, "axes"},
    {"Min", "6 8 12 13", kMany, ""},
    {"Mish", "18 22", 1, ""},
    {"Mod", "10 13 28", 2, "fmod"},
    {"Mul", "7 13 14", 2, ""},
    {"Neg", "6 13", 1, ""},
    {"NegativeLogLikelihoodLoss", "12 13 22", 3, "ignore_index reduction"},
    {"NonZero", "9 13", 1, ""},
    {"Not", "1", 1, ""},
    {"OneHot", "9 11 28", 3, "axis"},
    {"Or", "7", 2, ""},
    {"PRelu", "7 9 16", 2, ""},
    {"Pad", "2", 1, "mode pads value"},
    {"Pad", "11 13", 3, "mode"},
    {"Pad", "18 19 21 23 24 25", 4, "mode"},
    {"Pow", "7 12 13 15", 2, ""},
    {"RMSNormalization", "23", 2, "axis epsilon stash_type"},
    {"RNN", "7", 6, "activation_alpha activation_beta activations clip direction hidden_size"},
    {"RNN", "14 22", 6, "activation_alpha activation_beta activations clip direction hidden_size layout"},
    {"Range", "11", 3, ""},
    {"Range", "27", 3, "stash_type"},
    {"Reciprocal", "6 13", 1, ""},
    {"ReduceL1", "1 11 13", 1, "axes keepdims"},
    {"ReduceL1", "18", 2, "keepdims noop_with_empty_axes"},
    {"ReduceL2", "1 11 13", 1, "axes keepdims"},
    {"ReduceL2", "18", 2, "keepdims noop_with_empty_axes"},
    {"ReduceLogSum", "1 11 13", 1, "axes keepdims"},
    {"ReduceLogSum", "18 28", 2, "keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", "1 11 13", 1, "axes keepdims"},
    {"ReduceLogSumExp", "18 28", 2, "keepdims noop_with_empty_axes"},
    {"ReduceMax", "1 11 12 13", 1, "axes keepdims"},
    {"ReduceMax", "18 20", 2, "keepdims noop_with_empty_axes"},
    {"ReduceMean", "1 11 13", 1, "axes keepdims"},
    {"ReduceMean", "18", 2, "keepdims noop_with_empty_axes"},
    {"ReduceMin", "1 11 12 13", 1, "axes keepdims"},
    {"ReduceMin", "18 20", 2, "keepdims noop_with_empty_axes"},
    {"ReduceProd", "1 11 13", 1, "axes keepdims"},
    {"ReduceProd", "18", 2, "keepdims noop_with_empty_axes"},
    {"ReduceSum", "1 11", 1, "axes keepdims"},
    {"ReduceSum", "13", 2, "keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", "1 11 13", 1, "axes keepdims"},
    {"ReduceSumSquare", "18", 2, "keepdims noop_with_empty_axes"},
    {"Relu", "6 13 14", 1, ""},
    {"Reshape", "5 13", 2, ""},
    {"Reshape", "14 19 21 23 24 25", 2, "allowzero"},
    {"Resize", "10", 2, "mode"},
    {"Resize", "11 13", 4, "coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value mode nearest_mode"},
    {"Resize", "18 19", 4, "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"RotaryEmbedding", "23", 4, "interleaved num_heads rotary_embedding_dim"},
    {"Round", "11 22", 1, ""},
    {"Scan", "8", kMany, "body directions num_scan_inputs"},
    {"Scan", "9 11 16 19 21 23 24 25", kMany, "body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions"},
    {"Scatter", "9", 3, "axis"},
    {"ScatterElements", "11 13", 3, "axis"},
    {"ScatterElements", "16 18", 3, "axis reduction"},
    {"ScatterND", "11 13", 3, ""},
    {"ScatterND", "16 18", 3, "reduction"},
    {"Selu", "6 22", 1, "alpha gamma"},
    {"SequenceAt", "11", 2, ""},
    {"SequenceConstruct", "11", kMany, ""},
    {"SequenceEmpty", "11", 0, "dtype"},
    {"SequenceErase", "11", 2, ""},
    {"SequenceInsert", "11", 3, ""},
    {"SequenceLength", "11", 1, ""},
    {"Shape", "1 13", 1, ""},
    {"Shape", "15 19 21 23 24 25", 1, "end start"},
    {"Shrink", "9", 1, "bias lambd"},
    {"Sigmoid", "6 13", 1, ""},
    {"Sign", "9 13", 1, ""},
    {"Sin", "7 22", 1, ""},
    {"Size", "1 13 19 21 23 24 25", 1, ""},
    {"Slice", "1", 1, "axes ends starts"},
    {"Slice", "10 11 13", 5, ""},
    {"Softmax", "1 11 13", 1, "axis"},
    {"SoftmaxCrossEntropyLoss", "12 13", 3, "ignore_index reduction"},
    {"Softplus", "1 22", 1, ""},
    {"Softsign", "1 22", 1, ""},
    {"SpaceToDepth", "1 13", 1, "blocksize"},
    {"SpaceToDepth", "28", 1, "blocksize mode"},
    {"Split", "2 11", 1, "axis split"},
    {"Split", "13", 2, "axis"},
    {"Split", "18", 2, "axis num_outputs"},
    {"SplitToSequence", "11 24", 2, "axis keepdims"},
    {"Sqrt", "6 13", 1, ""},
    {"Squeeze", "1 11", 1, "axes"},
    {"Squeeze", "13 21 23 24 25", 2, ""},
    {"Sub", "7 13 14", 2, ""},
    {"Sum", "6 8 13", kMany, ""},
    {"Swish", "24", 1, "alpha"},
    {"Tanh", "6 13", 1, ""},
    {"ThresholdedRelu", "10 22", 1, "alpha"},
    {"Tile", "6 13", 2, ""},
    {"TopK", "1", 1, "axis k"},
    {"TopK", "10", 2, "axis"},
    {"TopK", "11 24", 2, "axis largest sorted"},
    {"Transpose", "1 13 21 23 24 25", 1, "perm"},
    {"Trilu", "14", 2, "upper"},
    {"Unsqueeze", "1 11", 1, "axes"},
    {"Unsqueeze", "13 21 23 24 25", 2, ""},
    {"Upsample", "7", 1, "mode scales"},
    {"Upsample", "9", 2, "mode"},
    {"Where", "9 16", 3, ""},
    {"Xor", "7", 2, ""},
    // rows: end
    // clang-format on
};

using Forms = llvm::ArrayRef<OpForm>;

static const llvm::StringMap<Forms> &formsByName() {
  static const llvm::StringMap<Forms> table = [] {
    llvm::StringMap<Forms> forms;
    for (Forms rest = kForms; !rest.empty();) {
      StringRef name = rest.front().opType;
      Forms own = rest.take_while(
          [&](const OpForm &form) { return form.opType == name; });
      forms[name] = own;
      rest = rest.drop_front(own.size());
    }
    return forms;
  }();
  return table;
}

static int64_t firstVersion(const OpForm &form) {
  int64_t version = 0;
  StringRef(form.versions).split(' ').first.getAsInteger(10, version);
  return version;
}

/// "version 13 of ReduceMean (opset 17)".
static std::string versionText(const OpForm &form, int64_t opset) {
  int64_t found = 0;
  for (StringRef text : llvm::split(form.versions, ' ')) {
    int64_t version = 0;
    text.getAsInteger(10, version);
    if (found == 0 || version <= opset)
      found = version;
  }
  return ("version " + Twine(found) + " of " + form.opType + ", which opset " +
          Twine(opset) + " has")
      .str();
}

static bool hasAttribute(const OpForm &form, StringRef name) {
  return llvm::is_contained(llvm::split(form.attributes, ' '), name);
}

namespace {
/// The form that an operator has in an opset, among the others.
class FormInOpset {
public:
  FormInOpset(StringRef opType, int64_t opset)
      : forms(formsByName().lookup(opType)), form(forms.begin()) {
    for (const OpForm &later : forms)
      if (firstVersion(later) <= opset)
        form = &later;
  }

  bool isKnown() const { return !forms.empty(); }
  const OpForm &operator*() const { return *form; }
  const OpForm *operator->() const { return form; }

  /// Which other version has it says more than that this one lacks it.
  template <class HasIt> std::string elsewhere(HasIt hasIt) const {
    for (const OpForm *later = form + 1; later != forms.end(); ++later)
      if (hasIt(*later))
        return ("; it came with opset " + Twine(firstVersion(*later))).str();
    for (const OpForm *earlier = form; earlier-- != forms.begin();)
      if (hasIt(*earlier))
        return ("; opset " + Twine(firstVersion(earlier[1])) + " took it away")
            .str();
    return "";
  }

private:
  Forms forms;
  const OpForm *form;
};
} // namespace

static llvm::Error unknownVersions() {
  return makeError("internal error: its versions are not known");
}

llvm::Error ffc::importer::checkMostOperands(const onnx::NodeProto &node,
                                             int64_t opset) {
  const FormInOpset form(node.op_type(), opset);
  if (!form.isKnown())
    return unknownVersions();
  int operands = node.input_size();
  while (operands > 0 && node.input(operands - 1).empty())
    --operands;
  if (operands <= form->mostOperands)
    return llvm::Error::success();
  return makeError("expected at most " + Twine(form->mostOperands) +
                   " operands in " + versionText(*form, opset) + ", found " +
                   Twine(operands) + form.elsewhere([&](const OpForm &other) {
                     return other.mostOperands >= operands;
                   }));
}

llvm::Error ffc::importer::checkAttributes(const onnx::NodeProto &node,
                                           int64_t opset) {
  const FormInOpset form(node.op_type(), opset);
  if (!form.isKnown())
    return unknownVersions();
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    StringRef name = attribute.name();
    if (hasAttribute(*form, name))
      continue;
    std::string where = form.elsewhere(
        [&](const OpForm &other) { return hasAttribute(other, name); });
    if (where.empty())
      return makeError("unknown attribute '" + name + "'");
    return makeError("attribute '" + name + "' is none of " +
                     versionText(*form, opset) + where);
  }
  return llvm::Error::success();
}
