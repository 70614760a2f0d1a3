//===- NodeTest.cpp - ONNX node tests in the reference evaluator ----------===//
//
// For operators that have no runtime kernel yet; the others run as programs
// (test/Conformance). The tests are those of Debian's libonnx-testdata.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "ffc/Reference/Evaluator.h"
#include "ffc/Reference/InitialValues.h"

#include "gmock/gmock.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace ffc;
using onnx::TensorProto;

namespace {

const std::string kNodeTests = "/usr/share/libonnx-testdata/data/node/";

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class T>
void append(const TensorProto &tensor, std::vector<double> &data) {
  const std::string &bytes = tensor.raw_data();
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + i, sizeof(T));
    data.push_back(static_cast<double>(element));
  }
}

ff::TensorValue valueOf(const TensorProto &tensor) {
  ff::TensorValue value;
  value.shape.assign(tensor.dims().begin(), tensor.dims().end());
  if (tensor.data_type() == TensorProto::FLOAT)
    append<float>(tensor, value.data);
  else if (tensor.data_type() == TensorProto::DOUBLE)
    append<double>(tensor, value.data);
  else if (tensor.data_type() == TensorProto::INT64)
    append<int64_t>(tensor, value.data);
  else if (tensor.data_type() == TensorProto::INT32)
    append<int32_t>(tensor, value.data);
  return value;
}

struct NodeCase {
  const char *name;
  /// An operand that must be known at import, or -1.
  int known = -1;
};

class NodeTest : public ImportFixture,
                 public testing::WithParamInterface<NodeCase> {
protected:
  void SetUp() override {
    options.training = false;
    options.timeBlock = 2;
    testFolder = kNodeTests + GetParam().name;
    if (!model.ParseFromString(readFile(testFolder + "/model.onnx")))
      GTEST_SKIP() << "no " << testFolder;
    for (int i = 0; i < model.graph().input_size(); ++i) {
      TensorProto tensor = readTensor("input", i);
      const std::string &name = model.graph().input(i).name();
      values[name] = valueOf(tensor);
      if (i != GetParam().known)
        continue;
      tensor.set_name(name);
      *model.mutable_graph()->add_initializer() = tensor;
    }
  }

  TensorProto readTensor(const std::string &kind, int i) const {
    TensorProto tensor;
    EXPECT_TRUE(tensor.ParseFromString(
        readFile(testFolder + "/test_data_set_0/" + kind + "_" +
                 std::to_string(i) + ".pb")));
    return tensor;
  }

  std::string testFolder;
  onnx::ModelProto model;
  ff::TensorValues values;
};

TEST_P(NodeTest, IsComputed) {
  std::string path = write("model.onnx", model.SerializeAsString());
  auto module = importModel(context, path, options);
  ASSERT_TRUE(module);
  auto states = ff::initialStates(*module, 0);
  ASSERT_TRUE(succeeded(states));
  for (const auto &[name, value] : values)
    (*states)[name] = value;
  auto result = ff::evaluate(*module, values, *states, {});
  ASSERT_TRUE(succeeded(result));
  for (int i = 0; i < model.graph().output_size(); ++i) {
    const std::string &name = model.graph().output(i).name();
    if (name.empty())
      continue;
    SCOPED_TRACE(name);
    ff::TensorValue expected = valueOf(readTensor("output", i));
    const ff::TensorValue &found = result->outputs["out/" + name];
    ASSERT_EQ(found.shape, expected.shape);
    for (size_t k = 0; k < expected.data.size(); ++k)
      ASSERT_NEAR(found.data[k], expected.data[k],
                  1e-5 * std::max(1.0, std::abs(expected.data[k])));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recurrent, NodeTest,
    testing::Values(
        NodeCase{"test_lstm_defaults"}, NodeCase{"test_lstm_with_initial_bias"},
        NodeCase{"test_lstm_batchwise"}, NodeCase{"test_gru_defaults"},
        NodeCase{"test_gru_with_initial_bias"}, NodeCase{"test_gru_seq_length"},
        NodeCase{"test_gru_batchwise"}, NodeCase{"test_simple_rnn_defaults"},
        NodeCase{"test_simple_rnn_with_initial_bias"},
        NodeCase{"test_simple_rnn_batchwise"}, NodeCase{"test_rnn_seq_length"}),
    [](const auto &info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Ranking, NodeTest,
    testing::Values(NodeCase{"test_top_k", 1},
                    NodeCase{"test_top_k_negative_axis", 1},
                    NodeCase{"test_top_k_smallest", 1},
                    NodeCase{"test_cumsum_1d", 1},
                    NodeCase{"test_cumsum_1d_exclusive", 1},
                    NodeCase{"test_cumsum_1d_reverse", 1},
                    NodeCase{"test_cumsum_1d_reverse_exclusive", 1},
                    NodeCase{"test_cumsum_2d_axis_0", 1},
                    NodeCase{"test_cumsum_2d_axis_1", 1},
                    NodeCase{"test_cumsum_2d_negative_axis", 1}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
