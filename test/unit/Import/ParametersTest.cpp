//===- ParametersTest.cpp - what PyTorch's notes say of parameters --------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Adds an entry of metadata_props, which libonnx does not know.
template <class Message>
void note(Message &message, int number, const std::string &key,
          const std::string &value) {
  onnx::StringStringEntryProto entry;
  entry.set_key(key);
  entry.set_value(value);
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(
      number, entry.SerializeAsString());
}

class ParametersTest : public ImportFixture {
protected:
  onnx::ModelProto model;

  /// A model of PyTorch's exporter whose module has `parameters`.
  void parse(const std::string &text,
             const std::vector<std::string> &parameters) {
    model = parseModel(text);
    // Names with dots are no identifiers of ONNX text.
    for (onnx::TensorProto &tensor :
         *model.mutable_graph()->mutable_initializer())
      tensor.set_name(dotted(tensor.name()));
    for (onnx::NodeProto &node : *model.mutable_graph()->mutable_node())
      for (std::string &input : *node.mutable_input())
        input = dotted(input);
    model.set_producer_name("pytorch");
    std::string signature = "\n# inputs\n";
    for (const std::string &name : parameters)
      signature += placeholder(name) + ": PARAMETER target='" + name + "'\n";
    signature +=
        "b_index: BUFFER target='index' persistent=True\nx: USER_INPUT\n";
    note(*model.mutable_graph(), 16,
         "pkg.torch.export.ExportedProgram.graph_signature", signature);
  }

  static std::string dotted(std::string name) {
    if (size_t at = name.find("__"); at != std::string::npos)
      name.replace(at, 2, ".");
    return name;
  }

  static std::string placeholder(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return "p_" + name;
  }

  onnx::ValueInfoProto &info(const std::string &value) {
    onnx::ValueInfoProto &entry = *model.mutable_graph()->add_value_info();
    entry.set_name(value);
    return entry;
  }

  void mark(const std::string &value, const std::string &kind = "PARAMETER") {
    onnx::ValueInfoProto &entry = info(value);
    note(entry, 4, "pkg.torch.export.graph_signature.InputSpec.kind", kind);
    note(entry, 4, "pkg.torch.onnx.original_node_name", placeholder(value));
  }

  void fold(const std::string &value, const std::string &from) {
    note(info(value), 4, "pkg.onnxscript.optimizer.folded_from", from);
  }

  /// The call that node i came from, and the rules that rewrote it.
  void call(int i, const std::string &arguments,
            const std::string &rules = "") {
    onnx::NodeProto &node = *model.mutable_graph()->mutable_node(i);
    note(
        node, 9, "pkg.torch.onnx.fx_node",
        "%y : [num_users=1] = call_function[target=torch.ops.aten.f](args = (" +
            arguments + "), kwargs = {})");
    if (!rules.empty())
      note(node, 9, "pkg.onnxscript.rewriter.rule_name", rules);
  }

  std::string list() { return listProto(model); }
};

TEST_F(ParametersTest, Marks) {
  parse("g (float[2, 3] x) => (float[2, 3] y)"
        "<float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, float[3] b = {1, 2, 3},"
        " float[3] c = {1, 2, 3}> {"
        " h = MatMul (x, w) i = Add (h, b) y = Mul (i, c) }",
        {"w", "b"});
  mark("w");
  mark("b", "BUFFER");
  call(1, "%h, %p_b");
  EXPECT_EQ(list(), "w: marked PARAMETER in the file\n"
                    "-b: marked BUFFER in the file\n"
                    "-c: the file marks parameters, and not this\n"
                    "?b: changed with what followed it\n");
}

TEST_F(ParametersTest, Folded) {
  parse("g (float[2, 3] x) => (float[2, 3] y)"
        "<float[3, 3] val_1 = {1, 2, 3, 4, 5, 6, 7, 8, 9},"
        " float[3] exp = {1, 2, 3}, float[3] val_2 = {1, 2, 3},"
        " float[3] embedding = {4, 2, 3}, float[3] val_3 = {5, 3, 3}> {"
        " h = MatMul (x, val_1) i = Add (h, exp) j = Mul (i, val_2)"
        " k = Add (j, embedding) y = Add (k, val_3) }",
        {"w", "s", "table", "a", "b"});
  fold("val_1", "['val_0', 'w']");
  fold("exp", "['s']");
  fold("val_2", "['index', 'table', 'val_9']");
  fold("embedding", "['add', 'arange', 'val_9', 'table']");
  fold("val_3", "['a', 'b']");
  EXPECT_EQ(list(), "val_1: a parameter in the file's notes, moved = w\n"
                    "-exp: the exporter computed it from 's'\n"
                    "-val_2: the exporter computed it from 'table'\n"
                    "-embedding: the exporter computed it from 'table'\n"
                    "-val_3: the exporter computed it from 'a'\n"
                    "?s: folded into 'exp'\n"
                    "?table: folded into 'val_2', 'embedding'\n"
                    "?a: folded into 'val_3'\n"
                    "?b: folded into 'val_3'\n");
}

TEST_F(ParametersTest, MergedScales) {
  parse("g (float[2, 3] x) => (float[2, 3] y)"
        "<float[3] l__weight = {1, 1, 1}, float[3] l__bias = {0, 0, 0}> {"
        " a = LayerNormalization (x, l__weight, l__bias)"
        " b = LayerNormalization (a, l__weight, l__bias)"
        " c = Mul (b, l__weight) y = Add (c, l__bias) }",
        {"l.weight", "l.bias", "m.weight", "m.bias", "n.weight", "n.bias"});
  mark("l.weight");
  mark("l.bias");
  call(0, "%x, %p_l_weight, %p_l_bias");
  call(1, "%a, %p_m_weight, %p_m_bias");
  call(2, "%b, %p_n_weight, %p_n_bias");
  call(3, "%b, %p_n_weight, %p_n_bias");
  EXPECT_EQ(list(), "l.weight: marked PARAMETER in the file\n"
                    "l.bias: marked PARAMETER in the file\n"
                    "m.weight: marked PARAMETER in the file\n"
                    "m.bias: marked PARAMETER in the file\n"
                    "n.weight: marked PARAMETER in the file\n"
                    "n.bias: marked PARAMETER in the file\n");
}

TEST_F(ParametersTest, BiasOfZeros) {
  parse("g (float[2, 3] x) => (float[2, 4] y)"
        "<float[4, 3] f__weight = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {"
        " y = Gemm <transB = 1> (x, f__weight) }",
        {"f.weight", "f.bias"});
  mark("f.weight");
  call(0, "%x, %p_f_weight, %p_f_bias", "RemoveOptionalBiasFromGemm");
  EXPECT_EQ(list(), "f.weight: marked PARAMETER in the file\n"
                    "f.bias: marked PARAMETER in the file\n");
  EXPECT_THAT(importProto(model), HasSubstr("ff.state \"f.bias\" \"parameter\" "
                                            "init <file"));
}

/// A restored parameter is no sign that the file marks its own.
TEST_F(ParametersTest, BiasOfZerosWithoutMarks) {
  parse("g (float[2, 3] x) => (float[2, 4] y)"
        "<float[4, 3] f__weight = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {"
        " y = Gemm <transB = 1> (x, f__weight) }",
        {"f.weight", "f.bias"});
  call(0, "%x, %p_f_weight, %p_f_bias", "RemoveOptionalBiasFromGemm");
  EXPECT_EQ(list(), "f.weight: a parameter in the file's notes\n"
                    "f.bias: marked PARAMETER in the file\n");
}

/// Regions of an image that a file holds are not trained.
TEST_F(ParametersTest, RegionsAreSettings) {
  EXPECT_EQ(listGraph("g (float[1, 1, 4, 4] x) => (float[1, 1, 1, 1] y)"
                      "<float[1, 4] boxes = {0, 0, 3, 3}, "
                      "int64[1] image = {0}> {"
                      " y = RoiAlign <sampling_ratio = 2> (x, boxes, image) }"),
            "-boxes: a setting of 'y' (RoiAlign)\n-image: of int64\n");
}

/// No bias is made for weights of impossible extents.
TEST_F(ParametersTest, BiasOfWrongWeights) {
  const std::string graph = "g (float[1, 2, 3] x) => (float[1, 4, 3] y)"
                            "<float[2, 2, 1] f__weight = {1, 2, 3, 4}> {"
                            " y = ConvTranspose (x, f__weight) }";
  for (int64_t group : {int64_t(-1), int64_t(0), int64_t(1) << 60}) {
    parse(graph, {"f.weight", "f.bias"});
    call(0, "%x, %p_f_weight, %p_f_bias", "RemoveOptionalBiasFromConv");
    onnx::AttributeProto &attribute =
        *model.mutable_graph()->mutable_node(0)->add_attribute();
    attribute.set_name("group");
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(group);
    EXPECT_THAT(list(), Not(HasSubstr("f.bias: marked"))) << group;
  }
  parse(graph, {"f.weight", "f.bias"});
  call(0, "%x, %p_f_weight, %p_f_bias", "RemoveOptionalBiasFromConv");
  model.mutable_graph()->mutable_initializer(0)->set_dims(1, int64_t(1) << 40);
  EXPECT_THAT(list(), HasSubstr("error: "));
}

TEST_F(ParametersTest, FoldedWithoutElements) {
  parse("g (float[2, 3] x) => (float[2, 3] y)"
        "<float[0, 3] expand = {}> { y = Concat <axis = 0> (x, expand) }",
        {"w"});
  fold("expand", "['w']");
  EXPECT_THAT(list(), HasSubstr("expand: "));
}

/// Without notes Constant nodes are judged as in other files.
TEST_F(ParametersTest, ConstantsWithoutNotes) {
  const std::string graph =
      "g (float[2, 3] x) => (float[2, 3] y) {"
      " c = Constant <value = float[3] {3, 1, 4}> () y = Add (x, c) }";
  parse(graph, {});
  EXPECT_EQ(list(), "c: bias at 'y' (Add)\n");
  parse(graph, {"w"});
  EXPECT_EQ(list(), "-c: PyTorch has no parameters in Constant nodes\n");
}

TEST_F(ParametersTest, TrainingWhatIsMissing) {
  parse("g (float[2, 3] x) => (float[2, 3] y)"
        "<float[3] exp = {1, 2, 3}> { y = Add (x, exp) }",
        {"s"});
  fold("exp", "['s']");
  options.trainRules = {{"s", true}};
  EXPECT_THAT(list(),
              HasSubstr("--train 's': 's' is not in the file: folded into "
                        "'exp'"));
}

TEST_F(ParametersTest, BatchNormInConvolution) {
  parse("g (float[1, 1, 3, 3] x) => (float[1, 1, 3, 3] y)"
        "<float[1, 1, 1, 1] c__weight = {2}> { y = Conv (x, c__weight) }",
        {"c.weight", "c.bias", "n.weight", "n.bias", "unused"});
  call(0, "%x, %p_n_weight, %p_n_bias",
       "RemoveOptionalBiasFromConv, FuseBatchNormIntoConv");
  mark("index", "BUFFER");
  EXPECT_EQ(list(), "-c.weight: the exporter changed it with what followed it\n"
                    "?c.weight: changed with what followed it\n"
                    "?c.bias: left out with its module\n"
                    "?n.weight: folded into what 'y' (Conv) reads\n"
                    "?n.bias: folded into what 'y' (Conv) reads\n");
}

/// Without its optimizer the exporter forgets that a module is in training.
TEST_F(ParametersTest, BatchNormInTraining) {
  for (const char *training : {"True", "False"}) {
    parse("g (float[2, 3, 4, 4] x) => (float[2, 3, 4, 4] y)"
          "<float[3] n__weight = {1, 2, 3}, float[3] n__bias = {1, 2, 3},"
          " float[3] m = {0, 0, 1}, float[3] v = {1, 1, 2}> {"
          " y = BatchNormalization (x, n__weight, n__bias, m, v) }",
          {"n.weight", "n.bias"});
    model.mutable_opset_import(0)->set_version(20);
    note(*model.mutable_graph()->mutable_node(0), 9, "pkg.torch.onnx.fx_node",
         std::string("%n : [num_users=3] = call_function[target=torch.ops.aten."
                     "_native_batch_norm_legit_functional.default](args = (%x, "
                     "%p_n_weight, %p_n_bias, %b_n_m, %b_n_v, ") +
             training + ", 0.1, 1e-05), kwargs = {})");
    EXPECT_EQ(importProto(model).find("ff.normalize") != std::string::npos,
              training == std::string("True"));
  }
}

/// 9 x 9 numbers, or their transpose.
std::string matrix(bool turned) {
  std::string text;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j)
      text += (text.empty() ? "" : ", ") +
              std::to_string((turned ? 9 * j + i : 9 * i + j) * 7 % 83 + 1);
  return "{" + text + "}";
}

TEST_F(ParametersTest, EqualButDistinct) {
  parse("g (float[2, 9] x) => (float[2, 9] y)"
        "<float[9, 9] v = " +
            matrix(false) + ", float[9, 9] w = " + matrix(false) +
            ", float[9, 9] val_1 = " + matrix(true) +
            "> { h = MatMul (x, v) i = MatMul (h, w) y = MatMul (i, val_1) }",
        {"v", "w"});
  mark("v");
  mark("w");
  fold("val_1", "['w']");
  EXPECT_EQ(list(), "v: marked PARAMETER in the file\n"
                    "w: marked PARAMETER in the file\n");
  std::string text = importProto(model);
  EXPECT_THAT(text, HasSubstr("ff.state \"v\" \"parameter\""));
  EXPECT_THAT(text, HasSubstr("ff.transpose"));
}

} // namespace
