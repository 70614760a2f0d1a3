//===- GradientTest.cpp - gradients against finite differences ------------===//

#include "Examples.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::ff::testing;

namespace {

/// sum(first result * weights).
double weightedSum(const Examples &examples, PartitionableInterface op,
                   ArrayRef<const TensorValue *> operands,
                   const TensorValue &weights) {
  auto results = evaluateOperator(op, operands, examples.reference());
  double sum = 0;
  for (size_t i = 0; i < weights.data.size(); ++i)
    sum += (*results)[0].data[i] * weights.data[i];
  return sum;
}

/// Compares the gradient of operand `slot` with central differences.
void checkOperand(const Examples &examples, const ExampleGradient &gradient,
                  size_t slot) {
  std::vector<const TensorValue *> operands = examples.operandsOf(gradient.op);
  const TensorValue &weights = examples.valueOf(gradient.resultGrad);
  TensorValue moved = *operands[slot];
  // No gradient is one of zero.
  TensorValue computed{moved.shape, std::vector<double>(moved.data.size())};
  if (Value grad = gradient.operandGrads[slot])
    computed = examples.valueOf(grad);
  ASSERT_EQ(computed.shape, moved.shape);
  operands[slot] = &moved;
  const double h = 1e-5;
  for (size_t i = 0; i < moved.data.size(); ++i) {
    double value = moved.data[i];
    moved.data[i] = value + h;
    double above = weightedSum(examples, gradient.op, operands, weights);
    moved.data[i] = value - h;
    double below = weightedSum(examples, gradient.op, operands, weights);
    moved.data[i] = value;
    double difference = (above - below) / (2 * h);
    EXPECT_NEAR(computed.data[i], difference,
                1e-6 * std::max(1.0, std::abs(difference)))
        << "element " << i;
  }
}

TEST(OperatorExamples, GradientsAreTheFiniteDifferences) {
  Examples examples;
  ASSERT_TRUE(examples.isGood());
  for (const ExampleGradient &gradient : examples.gradients()) {
    ASSERT_EQ(gradient.operandGrads.size(), gradient.needed.size());
    for (size_t slot = 0; slot < gradient.needed.size(); ++slot) {
      if (!gradient.needed[slot])
        continue;
      SCOPED_TRACE(describe(gradient.op) + ", operand " + std::to_string(slot));
      checkOperand(examples, gradient, slot);
    }
  }
}

TEST(OperatorExamples, GradientsAreNamedAfterTheirNode) {
  Examples examples;
  ASSERT_TRUE(examples.isGood());
  for (const ExampleGradient &gradient : examples.gradients()) {
    SCOPED_TRACE(describe(gradient.op));
    std::set<std::string> names;
    for (Operation *made : gradient.made) {
      std::string name = nameOf(made).str();
      EXPECT_EQ(name.rfind("node.backward", 0), 0u) << name;
      EXPECT_TRUE(names.insert(name).second) << name << " twice";
    }
  }
}

TEST(OperatorExamples, CoverTheDialect) {
  Examples examples;
  ASSERT_TRUE(examples.isGood());
  std::set<std::string> seen;
  for (PartitionableInterface op : examples.operators())
    seen.insert(op->getName().getStringRef().str());
  for (RegisteredOperationName name :
       examples.context().getRegisteredOperationsByDialect("ff"))
    if (name.hasInterface<PartitionableInterface>()) {
      EXPECT_TRUE(seen.count(name.getStringRef().str()))
          << name.getStringRef().str() << " has no example";
    }
}

} // namespace
