//===- NewerFieldsTest.cpp - fields that libonnx does not know ------------===//

#include "../../../lib/Import/NewerFields.h"
#include "../../../lib/Import/Skeleton.h"

#include "gmock/gmock.h"

using namespace ffc::importer;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

/// Serialized as a newer writer does it: `number` is a field of bytes.
std::string field(int number, const std::string &bytes) {
  int tag = number << 3 | 2;
  std::string out(1, static_cast<char>(tag < 128 ? tag : tag | 128));
  if (tag >= 128)
    out.push_back(static_cast<char>(tag >> 7));
  out.push_back(static_cast<char>(bytes.size()));
  return out + bytes;
}

std::string entry(const std::string &key, const std::string &value) {
  return field(1, key) + field(2, value);
}

/// What is read of `newer` behind the fields of a message of libonnx, in a
/// model that went through a skeleton.
class NewerFieldsTest : public testing::Test {
protected:
  onnx::ModelProto model;

  template <class Message>
  static void append(Message &message, const std::string &newer) {
    ASSERT_TRUE(message.ParseFromString(message.SerializeAsString() + newer));
  }

  onnx::ModelProto reread() {
    std::string skeleton;
    onnx::ModelProto result;
    EXPECT_TRUE(makeSkeleton(model.SerializeAsString(), skeleton));
    EXPECT_TRUE(result.ParseFromString(skeleton));
    return result;
  }
};

TEST_F(NewerFieldsTest, Metadata) {
  onnx::GraphProto &graph = *model.mutable_graph();
  append(*graph.add_node(), field(9, entry("k", "node")));
  append(*graph.add_value_info(), field(4, entry("k", "value")));
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_raw_data(std::string(5000, 'w'));
  append(tensor, field(16, entry("k", "tensor")));
  append(graph, field(16, entry("k", "old")) + field(16, entry("l", "graph")) +
                    field(16, entry("k", "new")));

  onnx::ModelProto found = reread();
  EXPECT_THAT(metadataOf(found.graph()),
              ElementsAre(Pair("k", "new"), Pair("l", "graph")));
  EXPECT_THAT(metadataOf(found.graph().node(0)),
              ElementsAre(Pair("k", "node")));
  EXPECT_THAT(metadataOf(found.graph().value_info(0)),
              ElementsAre(Pair("k", "value")));
  EXPECT_THAT(metadataOf(found.graph().initializer(0)),
              ElementsAre(Pair("k", "tensor")));
  EXPECT_FALSE(found.graph().initializer(0).has_raw_data());
}

TEST_F(NewerFieldsTest, Functions) {
  append(*model.mutable_graph()->add_node(), field(8, "two"));
  onnx::AttributeProto alpha;
  alpha.set_name("alpha");
  append(*model.add_functions(), field(13, "one") + field(13, "two") +
                                     field(11, alpha.SerializeAsString()));

  onnx::ModelProto found = reread();
  EXPECT_EQ(overloadOf(found.graph().node(0)), "two");
  const onnx::FunctionProto &function = found.functions(0);
  EXPECT_EQ(overloadOf(function), "two");
  ASSERT_EQ(defaultAttributesOf(function).size(), 1u);
  EXPECT_EQ(defaultAttributesOf(function)[0].name(), "alpha");
}

TEST_F(NewerFieldsTest, NothingThere) {
  onnx::NodeProto node;
  EXPECT_THAT(metadataOf(node), IsEmpty());
  EXPECT_EQ(overloadOf(node), "");
  // No entry, and no field of bytes.
  append(node, field(9, "\xff") + std::string("\x40\x01", 2));
  EXPECT_THAT(metadataOf(node), IsEmpty());
  EXPECT_EQ(overloadOf(node), "");
}

} // namespace
