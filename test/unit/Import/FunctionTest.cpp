//===- FunctionTest.cpp - functions of a model are inlined ----------------===//

#include "../../../lib/Import/NewerFields.h"
#include "TestModel.h"

#include "onnx/defs/parser.h"
#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class FunctionTest : public ImportFixture {
protected:
  /// A graph on x, a float[2, 3], and functions.
  static std::string model(const std::string &nodes,
                           const std::string &functions, int opset = 17) {
    return "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
           ", \"my\" : 1]>\n"
           "g (float[2, 3] x) => (float[2, 3] y) { " +
           nodes + " }\n" + functions;
  }
  static std::string function(const std::string &text, int opset = 17) {
    return "<domain: \"my\", opset_import: [\"\" : " + std::to_string(opset) +
           ", \"my\" : 1]>\n" + text + "\n";
  }
  std::string import(const std::string &nodes, const std::string &functions) {
    return importText(model(nodes, functions));
  }
};

TEST_F(FunctionTest, NodesAreNamedAfterTheCall) {
  std::string text =
      import("a = my.Swish(x) y = my.Swish(a)",
             function("Swish (X) => (Y) { s = Sigmoid(X) Y = Mul(X, s) }"));
  for (const char *name : {"ff.aliases = [\"a.s\"]", "ff.aliases = [\"a\"]",
                           "ff.aliases = [\"y.s\"]"})
    EXPECT_THAT(text, HasSubstr(name));
}

TEST_F(FunctionTest, WithinFunctionsAndSubgraphs) {
  EXPECT_THAT(
      import("c = Constant<value = bool {1}>() y = If(c) <"
             "then_branch = t () => (float[2, 3] p) { p = my.Twice(x) }, "
             "else_branch = e () => (float[2, 3] q) { q = Tanh(x) }>",
             function("Twice (X) => (Y) { h = my.Once(X) Y = my.Once(h) }") +
                 function("Once (X) => (Y) { Z = Relu(X) Y = Tanh(Z) }")),
      AllOf(HasSubstr("ff.aliases = [\"p.h.Z\"]"),
            HasSubstr("ff.aliases = [\"p.Z\"]"), Not(HasSubstr("error"))));
  // The subgraph of a function sees the function's values.
  EXPECT_THAT(import("y = my.Choose(x)",
                     function("Choose (X) => (Y) { z = Relu(X) "
                              "c = Constant<value = bool {0}>() Y = If(c) <"
                              "then_branch = t () => (p) { p = Tanh(z) }, "
                              "else_branch = e () => (q) { q = Exp(z) }> }")),
              AllOf(HasSubstr("exp("), HasSubstr("ff.aliases = [\"y.z\"]"),
                    Not(HasSubstr("tanh("))));
}

TEST_F(FunctionTest, Attributes) {
  const std::string leaky =
      function("Leaky <slope> (X) => (Y) { Y = LeakyRelu<alpha = @slope>(X) }");
  EXPECT_THAT(import("y = my.Leaky<slope = 0.5>(x)", leaky),
              HasSubstr("alpha 5.000000e-01"));
  // What is not given is not given inside.
  EXPECT_THAT(import("y = my.Leaky(x)", leaky), HasSubstr("alpha 0.0"));
  EXPECT_THAT(import("y = my.Leaky<alpha = 0.5>(x)", leaky),
              HasSubstr("node 'y' (Leaky): its function has no attribute "
                        "'alpha'"));
}

TEST_F(FunctionTest, DefaultsAndOverloads) {
  onnx::ModelProto proto;
  std::string text = model(
      "a = my.F(x) y = my.F(a)",
      function("F <slope> (X) => (Y) { Y = LeakyRelu<alpha = @slope>(X) }") +
          function("F (X) => (Y) { Y = Tanh(X) }"));
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, text.c_str()).IsOK());
  auto append = [](auto &message, int number, const std::string &bytes) {
    std::string whole = message.SerializeAsString();
    whole.push_back(static_cast<char>(number << 3 | 2));
    whole.push_back(static_cast<char>(bytes.size()));
    ASSERT_TRUE(message.ParseFromString(whole + bytes));
  };
  EXPECT_THAT(importProto(proto),
              HasSubstr("function 'my.F' is defined twice"));

  append(*proto.mutable_graph()->mutable_node(0), 8, "b");
  append(*proto.mutable_functions(1), 13, "b");
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.25f);
  proto.mutable_functions(0)->clear_attribute();
  append(*proto.mutable_functions(0), 11, slope.SerializeAsString());
  EXPECT_THAT(importProto(proto),
              AllOf(HasSubstr("tanh("), HasSubstr("alpha 2.500000e-01")));
}

TEST_F(FunctionTest, CallsWithinEachOther) {
  std::string functions = function("F0 (X) => (Y) { Y = Tanh(X) }");
  for (int i = 1; i < 200; ++i)
    functions += function("F" + std::to_string(i) + " (X) => (Y) { Y = my.F" +
                          std::to_string(i - 1) + "(X) }");
  EXPECT_THAT(import("y = my.F99(x)", functions), HasSubstr("tanh("));
  EXPECT_THAT(import("y = my.F199(x)", functions),
              HasSubstr("expected at most 100 calls of functions within each "
                        "other"));
}

/// A function is of the opset that it imports.
TEST_F(FunctionTest, OwnOpset) {
  EXPECT_THAT(
      import("y = my.Mean(x)",
             function("Mean (X) => (Y) { a = Constant<value_ints = [1]>() "
                      "m = ReduceMean(X, a) Y = Sub(X, m) }",
                      18)),
      HasSubstr("-> tensor<2x1xf32>"));
  EXPECT_THAT(
      import("y = my.Mean(x)",
             function("Mean (X) => (Y) { a = Constant<value_ints = [1]>() "
                      "m = ReduceMean(X, a) Y = Sub(X, m) }")),
      HasSubstr("node 'y.m' (ReduceMean): expected at most 1 operands"));
  EXPECT_THAT(
      import("y = my.Old(x)", function("Old (X) => (Y) { Y = Relu(X) }", 6)),
      HasSubstr("its function is of opset 6, expected 7 or later"));
}

TEST_F(FunctionTest, OperandsAndResults) {
  const std::string functions =
      function(
          "Opt (X, L, H) => (Y, M) { Y = Clip(X, L, H) M = Identity(X) }") +
      function("Same (X) => (X) { Z = Relu(X) }");
  EXPECT_THAT(import("y = my.Opt(x)", functions), HasSubstr("clip("));
  EXPECT_THAT(import("h = my.Same(x) y = Tanh(h)", functions),
              HasSubstr("tanh(%arg0)"));
  EXPECT_THAT(import("y = my.Opt(x, x, x, x)", functions),
              HasSubstr("its function has 3 operands, found 4"));
  EXPECT_THAT(import("y, z = my.Same(x)", functions),
              HasSubstr("its function has 1 results, found 2"));
}

/// A name that the graph has already is not taken.
TEST_F(FunctionTest, NamesStayApart) {
  onnx::ModelProto proto;
  std::string text =
      model("c = Exp(x) h = my.F(c) y = Add(h, c)",
            function("F (X) => (Y) { s = Relu(X) Y = Tanh(s) }"));
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, text.c_str()).IsOK());
  onnx::GraphProto &graph = *proto.mutable_graph();
  graph.mutable_node(0)->set_output(0, "h.s");
  graph.mutable_node(1)->set_input(0, "h.s");
  graph.mutable_node(2)->set_input(1, "h.s");
  EXPECT_THAT(importProto(proto),
              AllOf(HasSubstr("exp(%arg0) {ff.aliases = [\"h.s\"]}"),
                    HasSubstr("relu(%0) {ff.aliases = [\"h.s_1\"]}")));
}

TEST_F(FunctionTest, OperatorsStayOperators) {
  EXPECT_THAT(
      importText("<ir_version: 8, opset_import: [\"\" : 17, "
                 "\"com.microsoft\" : 1]>\n"
                 "g (float[2, 3] x, float[3] b) => (float[2, 3] y) "
                 "{ y = com.microsoft.BiasGelu(x, b) }\n"
                 "<domain: \"com.microsoft\", opset_import: [\"\" : 17]>"
                 "BiasGelu (A, B) => (C) { C = Foo(A, B) }"),
      HasSubstr("gelu("));
}

TEST_F(FunctionTest, Recursion) {
  EXPECT_THAT(
      import("y = my.F(x)", function("F (X) => (Y) { Y = my.G(X) }") +
                                function("G (X) => (Y) { Y = my.F(X) }")),
      HasSubstr("node 'y' (F): function 'my.F' calls itself"));
  // Each calls the one before twice.
  std::string functions = function("F0 (X) => (Y) { Y = Relu(X) }");
  for (int i = 1; i < 40; ++i) {
    std::string before = "my.F" + std::to_string(i - 1);
    functions +=
        function("F" + std::to_string(i) + " (X) => (Y) { h = " + before +
                 "(X) Y = " + before + "(h) }");
  }
  EXPECT_THAT(import("y = my.F39(x)", functions),
              HasSubstr("expected at most 1000000 nodes after functions are "
                        "inlined"));
}

} // namespace
