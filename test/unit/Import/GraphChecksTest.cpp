//===- GraphChecksTest.cpp - what no model may have -----------------------===//
//
// What is wrong with nodes and data is said before it is decided what is
// trained, so `ffc parameters` says it too.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::HasSubstr;

namespace {

class GraphChecksTest : public ImportFixture {
protected:
  void expectError(const onnx::ModelProto &model, const std::string &message) {
    for (const std::string &found : {importProto(model), listProto(model)}) {
      EXPECT_THAT(found, HasSubstr(message));
      EXPECT_THAT(found, HasSubstr("error: loc(\"m.onnx\":0:0): "));
    }
  }

  /// A model of x, of weights w and o, and of the nodes in `text`.
  static onnx::ModelProto modelOf(const std::string &text) {
    return parseModel("g (float[2, 3] x) => (float[1] y)"
                      "<float[3, 1] w = {1.5, 2, 3}, float[1] o = {0.5}> { " +
                      text + " }");
  }

  void expectErrorOf(const std::string &text, const std::string &message) {
    expectError(modelOf(text), message);
  }
};

TEST_F(GraphChecksTest, CountsOfOperands) {
  expectErrorOf("p = MatMul(x, w) y = Add(p, x, o)",
                "node 'y' (Add): expected at most 2 operands in version 13 of "
                "Add, which opset 13 has, found 3");
  expectErrorOf("p = MatMul(x) y = Add(p, o)",
                "node 'p' (MatMul): expected at least 2 operands, found 1");
  expectErrorOf("t = Transpose() p = MatMul(x, t) y = Add(p, o)",
                "node 't' (Transpose): expected at least 1 operands, found 0");
  expectErrorOf("t = ConstantOfShape() y = MatMul(x, t)",
                "node 't' (ConstantOfShape): expected at least 1 operands, "
                "found 0");
  expectErrorOf("y = com.microsoft.BiasGelu(x, o, o)",
                "node 'y' (BiasGelu): expected at most 2 operands, found 3");
  expectErrorOf("y = InstanceNormalization(x)",
                "node 'y' (InstanceNormalization): expected at least 3 "
                "operands, found 1");
}

TEST_F(GraphChecksTest, OperandsThatAreLeftOut) {
  onnx::ModelProto model = modelOf("p = MatMul(x, w) y = Add(p, o)");
  model.mutable_graph()->mutable_node(0)->set_input(0, "");
  expectError(model, "node 'p' (MatMul): expected at least 2 operands, found "
                     "none as operand 0");
}

TEST_F(GraphChecksTest, InsideOfNodes) {
  const std::string branches =
      "<then_branch = a () => (float[1] p) { p = Add(x) }, "
      "else_branch = b () => (float[1] q) { q = Relu(x) }>";
  expectErrorOf("c = Constant<value = bool {0}>() y = If(c)" + branches,
                "node 'p' (Add): expected at least 2 operands, found 1");
}

TEST_F(GraphChecksTest, NoResults) {
  onnx::ModelProto model = modelOf("y = Add(x, o)");
  *model.mutable_graph()->add_node() = model.graph().node(0);
  model.mutable_graph()->mutable_node(1)->clear_output();
  model.mutable_graph()->mutable_node(1)->set_name("extra");
  expectError(model, "node 'extra' (Add): expected a result");
  model = modelOf("p = InstanceNormalization(x, o, o) y = Add(x, o)");
  model.mutable_graph()->mutable_node(0)->clear_output();
  model.mutable_graph()->mutable_node(0)->set_name("norm");
  expectError(model, "node 'norm' (InstanceNormalization): expected a result");
}

TEST_F(GraphChecksTest, Data) {
  onnx::ModelProto model = modelOf("p = MatMul(x, w) y = Add(p, o)");
  onnx::TensorProto &w = *model.mutable_graph()->mutable_initializer(0);
  w.set_dims(0, int64_t(1) << 40);
  w.set_dims(1, int64_t(1) << 40);
  expectError(model, "initializer 'w': shape 1099511627776x1099511627776 has a "
                     "negative extent or too many elements");
  w.set_dims(0, 3);
  w.set_dims(1, 1);
  w.clear_float_data();
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  auto *entry = w.add_external_data();
  entry->set_key("location");
  entry->set_value("none.data");
  expectError(model, "initializer 'w': cannot read external data");

  model = modelOf("c = Constant<value = float[3] {1, 2, 3}>() y = Mul(x, c)");
  model.mutable_graph()
      ->mutable_node(0)
      ->mutable_attribute(0)
      ->mutable_t()
      ->set_dims(0, 4);
  expectError(model, "node 'c' (Constant): expected 4 elements for shape 4, "
                     "found 3");
}

TEST_F(GraphChecksTest, InitializersAreDefinedOnce) {
  onnx::ModelProto model = modelOf("p = MatMul(x, w) y = Add(p, o)");
  *model.mutable_graph()->add_initializer() = model.graph().initializer(1);
  expectError(model, "initializer 'o' is defined already");
}

/// Nodes that read each other are walked once.
TEST_F(GraphChecksTest, Cycles) {
  for (const char *nodes :
       {"p = Concat<axis = 0>(q, x) q = Identity(p) y = Add(p, o)",
        "t = Transpose(u) u = Transpose(t) p = MatMul(x, t) y = Add(p, o)",
        "t = Identity(u) u = Identity(t) p = MatMul(x, t) y = Add(p, o)"}) {
    onnx::ModelProto model = modelOf(nodes);
    EXPECT_THAT(importProto(model), HasSubstr("depends on its own result"));
    EXPECT_THAT(listProto(model), HasSubstr("o: "));
  }
}

/// What others call an Add has any operands, and any results.
TEST_F(GraphChecksTest, OtherDomains) {
  for (const char *node :
       {"y = my.Add(x, w, o)", "y = my.Transpose()",
        "t = my.Transpose() p = MatMul(x, t) y = Add(p, o)", "y = my.MatMul(o)",
        "y = my.ConstantOfShape()", "y = my.Identity()",
        "p = my.MatMul() y = Add(p, o)", "y = my.InstanceNormalization(o)",
        "y = my.If<a = b () => (float[1] c) { d = Add(x, o) }>(x)"})
    EXPECT_THAT(listProto(modelOf(node)), HasSubstr("o: ")) << node;
  // The fields of a file say nothing of the opset of a node.
  onnx::ModelProto model =
      parseModel("g (float[2, 3] x, int64[1] a = {1}) => (float[2] y) "
                 "{ y = ReduceMean(x, a) }");
  onnx::NodeProto &node = *model.mutable_graph()->mutable_node(0);
  node.GetReflection()->MutableUnknownFields(&node)->AddVarint(15000, 18);
  expectError(model, "node 'y' (ReduceMean): expected at most 1 operands in "
                     "version 13 of ReduceMean");
}

} // namespace
