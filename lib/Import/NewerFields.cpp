//===- NewerFields.cpp - fields that libonnx does not know ----------------===//

#include "NewerFields.h"

#include <google/protobuf/unknown_field_set.h>

using namespace ffc::importer;
using google::protobuf::Message;

/// Protobuf keeps fields that it does not know; these hold strings or messages.
/// Fields that the installed libonnx knows are read as such.
static std::vector<std::string> payloadsOf(const Message &message, int number) {
  std::vector<std::string> payloads;
  const google::protobuf::Reflection *reflection = message.GetReflection();
  if (const auto *field = message.GetDescriptor()->FindFieldByNumber(number)) {
    if (!field->is_repeated())
      payloads.push_back(reflection->GetString(message, field));
    else
      for (int i = 0; i < reflection->FieldSize(message, field); ++i)
        payloads.push_back(reflection->GetRepeatedMessage(message, field, i)
                               .SerializeAsString());
    return payloads;
  }
  const auto &unknown = reflection->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (const auto &field = unknown.field(i);
        field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      payloads.push_back(field.length_delimited());
  return payloads;
}

/// The messages of a repeated field; what is none is left out.
template <class Inner>
static std::vector<Inner> messagesOf(const Message &message, int number) {
  std::vector<Inner> messages;
  for (const std::string &payload : payloadsOf(message, number))
    if (Inner inner; inner.ParseFromString(payload))
      messages.push_back(std::move(inner));
  return messages;
}

static Metadata metadata(const Message &message, int number) {
  Metadata entries;
  for (auto &entry : messagesOf<onnx::StringStringEntryProto>(message, number))
    entries[entry.key()] = entry.value();
  return entries;
}

/// The last occurrence of a string counts.
static std::string text(const Message &message, int number) {
  std::vector<std::string> payloads = payloadsOf(message, number);
  return payloads.empty() ? "" : payloads.back();
}

// The numbers are those of onnx.proto.

Metadata ffc::importer::metadataOf(const onnx::GraphProto &graph) {
  return metadata(graph, 16);
}
Metadata ffc::importer::metadataOf(const onnx::NodeProto &node) {
  return metadata(node, 9);
}
Metadata ffc::importer::metadataOf(const onnx::ValueInfoProto &value) {
  return metadata(value, 4);
}
Metadata ffc::importer::metadataOf(const onnx::TensorProto &tensor) {
  return metadata(tensor, 16);
}

std::string ffc::importer::overloadOf(const onnx::NodeProto &node) {
  return text(node, 8);
}
std::string ffc::importer::overloadOf(const onnx::FunctionProto &function) {
  return text(function, 13);
}

/// A number that ONNX is far from.
static constexpr int kOwnOpset = 15000;

std::optional<int64_t> ffc::importer::ownOpsetOf(const onnx::NodeProto &node) {
  const auto &unknown = node.GetReflection()->GetUnknownFields(node);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (const auto &field = unknown.field(i);
        field.number() == kOwnOpset &&
        field.type() == google::protobuf::UnknownField::TYPE_VARINT)
      return static_cast<int64_t>(field.varint());
  return std::nullopt;
}

void ffc::importer::setOwnOpset(onnx::NodeProto &node, int64_t opset) {
  auto &unknown = *node.GetReflection()->MutableUnknownFields(&node);
  unknown.DeleteByNumber(kOwnOpset);
  unknown.AddVarint(kOwnOpset, static_cast<uint64_t>(opset));
}

static void
clearOwnOpsets(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  for (onnx::NodeProto &node : nodes) {
    node.GetReflection()->MutableUnknownFields(&node)->DeleteByNumber(
        kOwnOpset);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        clearOwnOpsets(*attribute.mutable_g()->mutable_node());
      for (onnx::GraphProto &inner : *attribute.mutable_graphs())
        clearOwnOpsets(*inner.mutable_node());
    }
  }
}

void ffc::importer::clearOwnOpsets(onnx::ModelProto &model) {
  ::clearOwnOpsets(*model.mutable_graph()->mutable_node());
  for (onnx::FunctionProto &function : *model.mutable_functions())
    ::clearOwnOpsets(*function.mutable_node());
}

std::vector<onnx::AttributeProto>
ffc::importer::defaultAttributesOf(const onnx::FunctionProto &function) {
  return messagesOf<onnx::AttributeProto>(function, 11);
}
