//===- FunctorsTest.cpp - functors of fused kernels -----------------------===//

#include "EmitProgramFixture.h"

#include "gmock/gmock.h"

#include <cctype>

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;
using testing::HasSubstr;

namespace {

class FunctorsTest : public EmitProgram {};

/// %e is narrow.
const char *typeOfBuffer(char name) { return name == 'e' ? "<bf16>" : "<f32>"; }

std::string fusedOnOneRank(const std::string &kernels) {
  std::string text =
      "rank.func @class0 attributes {ranks = array<i64: 0>, world = 1 : i64, "
      "groups = [], state_bytes = #rank.per<[0]>, arena_bytes = "
      "#rank.per<[320]>, flops = #rank.per<[0]>} {";
  for (char name : {'a', 'b', 'c', 'd', 'e'})
    text +=
        std::string("%") + name + " = rank.buffer \"" + name +
        "\" \"arena\" at <[" + std::to_string(64 * (name - 'a')) +
        "]> \"row_major\" region <[1, 0, 8]> of [8] : " + typeOfBuffer(name) +
        " ";
  return text + kernels + "}";
}
std::string fusedKernel(const std::string &name, const std::string &ins,
                        const std::string &outs, const std::string &program) {
  auto types = [](const std::string &list) {
    std::string text;
    for (char c : list)
      if (std::isalpha(c))
        text += std::string(text.empty() ? "" : ", ") + "!rank.buffer" +
                typeOfBuffer(c);
    return "(" + text + ")";
  };
  return "rank.kernel \"fused\"(" + ins + ") -> (" + outs +
         ") tile <[0, 8]> {program = \"" + program +
         "\"} task <[0, 0, 0, 0]> : " + types(ins) + " -> " + types(outs) +
         " loc(\"" + name + "\")\n";
}

TEST_F(FunctorsTest, GivesFusedKernelsAFunctor) {
  const std::string chain =
      "t0 = add(x0, x1); t1 = leaky_relu[0.10000000149011612](t0); return t1";
  auto files = emit(fusedOnOneRank(
      fusedKernel("relu1", "%a, %b", "%c", chain) +
      fusedKernel("relu2", "%a, %c", "%a", chain) +
      fusedKernel("relu1!", "%a, %b, %c", "%c, %d",
                  "t0 = mul(x0, x1); t1 = clip[0, inf](t0); t2 = "
                  "relu_backward(x2, t1); return t2, t0")));
  ASSERT_EQ(files.size(), 4u) << error;
  const std::string &text = files[0].contents;
  EXPECT_THAT(text, HasSubstr("#include \"functors.h\"\n"));
  EXPECT_THAT(text, HasSubstr(R"(
  Kernel<Fused<functors::Relu1, From<float, float>, float>> fused_forward{*this,
      {input, input_2}, {output}};
)"));
  EXPECT_THAT(text, HasSubstr(R"(
  Kernel<Fused<functors::Relu1, From<float, float>, float>> fused_forward{*this,
      {output, input}, {output}};
)"));
  EXPECT_THAT(text, HasSubstr(R"(
  Kernel<Fused<functors::Relu1_2, From<float, float, float>, float,
      float>> fused_forward{*this, {input, input_2, output},
      {output, output_2}};
)"));
  EXPECT_THAT(text, HasSubstr(R"(
  PlainLayer relu1{*this, 0};
  PlainLayer2 relu2{*this, 1, relu1.input, relu1.output};
  PlainLayer3 relu1_2{*this, 2, relu1.input, relu1.input_2, relu1.output};
)"));
  EXPECT_EQ(files[2].path, "functors.h");
  EXPECT_THAT(files[2].contents, HasSubstr(R"(
/// relu1, relu2: leaky_relu[0.1](x0 + x1)
struct Relu1 {
  FFRT_FUNCTION
  float operator()(float x0, float x1) const {
    const float t0 = fn::Add{}(x0, x1);
    const float t1 = fn::LeakyRelu{0.1f}(t0);
    return t1;
  }
};

/// relu1!: t0 = x0 * x1; relu_backward(x2, clip[0, inf](t0)), t0
struct Relu1_2 {
  FFRT_FUNCTION
  std::array<float, 2> operator()(float x0, float x1, float x2) const {
    const float t0 = fn::Mul{}(x0, x1);
    const float t1 = fn::Clip{0.0f, HUGE_VALF}(t0);
    const float t2 = fn::ReluGradient{}(x2, t1);
    return {t2, t0};
  }
};
)"));
  EXPECT_THAT(files[2].contents, HasSubstr(R"(
// Compiled in functors.cpp.
namespace ffrt {
extern template class Fused<functors::Relu1, From<float, float>, float>;
extern template class Fused<functors::Relu1_2, From<float, float, float>, float,
    float>;
} // namespace ffrt
)"));
  EXPECT_EQ(files[3].path, "functors.cpp");
  EXPECT_THAT(files[3].contents, HasSubstr(R"(
namespace ffrt {
template class Fused<functors::Relu1, From<float, float>, float>;
template class Fused<functors::Relu1_2, From<float, float, float>, float,
    float>;
} // namespace ffrt
)"));
  EXPECT_EQ(compile(files), "");
}

TEST_F(FunctorsTest, SharesAFunctorAmongTypesOfOperands) {
  const std::string sum = "t0 = add(x0, x1); return t0";
  auto files = emit(fusedOnOneRank(
      fusedKernel("sum1", "%a, %b", "%c", sum) +
      fusedKernel("sum2", "%a, %e", "%c", sum) +
      fusedKernel("sum3", "%e, %b", "%d", sum) +
      fusedKernel("sum4", "%b, %e", "%d", sum) +
      fusedKernel("relu", "%e", "%e", "t0 = relu(x0); return bf16(t0)")));
  ASSERT_EQ(files.size(), 4u) << error;
  const std::string &text = files[0].contents;
  EXPECT_THAT(text, HasSubstr(R"(
  Kernel<Fused<functors::Sum1, From<float, ffrt::BFloat16>,
      float>> fused_forward{*this, {input, input_2}, {output}};
)"));
  EXPECT_THAT(text, HasSubstr(R"(
  Kernel<Fused<functors::Relu, From<ffrt::BFloat16>,
      ffrt::BFloat16>> fused_forward{*this, {output}, {output}};
)"));
  EXPECT_THAT(files[2].contents,
              HasSubstr("/// sum1, sum2, sum3, sum4: x0 + x1\nstruct Sum1 {"));
  EXPECT_THAT(files[3].contents, HasSubstr(R"(
namespace ffrt {
template class Fused<functors::Sum1, From<float, float>, float>;
template class Fused<functors::Sum1, From<float, ffrt::BFloat16>, float>;
template class Fused<functors::Sum1, From<ffrt::BFloat16, float>, float>;
template class Fused<functors::Relu, From<ffrt::BFloat16>, ffrt::BFloat16>;
} // namespace ffrt
)"));
  EXPECT_EQ(compile(files), "");
}

TEST_F(FunctorsTest, RejectsMalformedPrograms) {
  auto expectError = [&](const std::string &program, const char *expected) {
    error.clear();
    EXPECT_TRUE(emit(fusedOnOneRank(fusedKernel("f", "%a, %b", "%c", program)))
                    .empty());
    EXPECT_THAT(error, HasSubstr(expected));
  };
  expectError("t0 = blur(x0); return t0",
              "fused program: expected a function, found 'blur(x0); return'");
  expectError("t0 = add(x0, t0); return t0",
              "expected an operand or an earlier step, found 't0); return t0'");
  expectError("t0 = add(x0); return t0",
              "expected 0 parameters and 2 operands of 'add', found 'add(x0)");
  expectError("t0 = scale[y](x0); return t0", "expected a number, found 'y]");
  expectError("t1 = exp(x0); return t1", "expected 't0', found 't1 = exp");
  expectError("t0 = exp(x0) return t0", "expected ';', found 'return t0'");
  expectError("t0 = exp(x0); return t0 x", "expected the end, found 'x'");
  expectError("t0 = exp(x0); return bf16 t0", "expected '(', found 't0'");
  expectError("t0 = exp(x0); t1 = exp(x1); return t0, t1",
              "expected 2 operands and 2 results as in its program, found 2 "
              "and 1");
}

} // namespace
