//===- Skeleton.cpp - serialized models without their weights -------------===//

#include "Skeleton.h"

#include <cstdint>

using namespace ffc::importer;

namespace {

/// Smaller tensors are copied: they may be shapes, and cost nothing.
constexpr size_t kLargeBytes = 4096;

enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  uint64_t number = 0;
  unsigned wire = 0;
  uint64_t value = 0;       ///< of a varint
  std::string_view payload; ///< of bytes
  std::string_view whole;   ///< tag included
};

/// Walks over the fields of a message.
class Walker {
public:
  explicit Walker(std::string_view bytes) : rest(bytes) {}

  bool done() const { return rest.empty(); }

  /// False if the message is not well-formed.
  bool next(Field &field) {
    std::string_view start = rest;
    uint64_t tag;
    if (!varint(tag))
      return false;
    field = Field();
    field.number = tag >> 3;
    field.wire = unsigned(tag & 7);
    uint64_t size = 0;
    switch (field.wire) {
    case Varint:
      if (!varint(field.value))
        return false;
      break;
    case Fixed64:
      size = 8;
      break;
    case Fixed32:
      size = 4;
      break;
    case Bytes:
      if (!varint(size))
        return false;
      break;
    default:
      return false;
    }
    if (size > rest.size())
      return false;
    field.payload = rest.substr(0, size);
    rest.remove_prefix(size);
    field.whole = start.substr(0, start.size() - rest.size());
    return true;
  }

private:
  std::string_view rest;

  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return true;
    }
    return false;
  }
};

void putVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

void putBytes(std::string &out, uint64_t number, std::string_view bytes) {
  putVarint(out, number << 3 | Bytes);
  putVarint(out, bytes.size());
  out.append(bytes);
}

/// Appends an external_data entry of a TensorProto.
void putEntry(std::string &out, std::string_view key, std::string_view value) {
  std::string entry;
  putBytes(entry, 1, key);
  putBytes(entry, 2, value);
  putBytes(out, 13, entry);
}

/// The messages on the way to tensors.
enum class Message { Model, Function, Graph, Node, Attribute, Tensor, Other };

/// What field `number` of `message` holds.
Message fieldOf(Message message, uint64_t number) {
  switch (message) {
  case Message::Model:
    return number == 7    ? Message::Graph
           : number == 25 ? Message::Function
                          : Message::Other;
  case Message::Function:
    return number == 7 ? Message::Node : Message::Other;
  case Message::Graph:
    return number == 1   ? Message::Node
           : number == 5 ? Message::Tensor
                         : Message::Other;
  case Message::Node:
    return number == 5 ? Message::Attribute : Message::Other;
  case Message::Attribute:
    return number == 5   ? Message::Tensor
           : number == 6 ? Message::Graph
                         : Message::Other;
  default:
    return Message::Other;
  }
}

class Copier {
public:
  Copier(std::string_view model) : model(model) {}

  /// `depth` bounds the recursion, to what the protobuf parser accepts.
  bool copy(Message message, std::string_view bytes, std::string &out,
            int depth) {
    if (message == Message::Tensor)
      return copyTensor(bytes, out);
    if (depth > 100)
      return false;
    Field field;
    for (Walker walker(bytes); !walker.done();) {
      if (!walker.next(field))
        return false;
      Message inner = fieldOf(message, field.number);
      if (inner == Message::Other || field.wire != Bytes) {
        out.append(field.whole);
        continue;
      }
      std::string copied;
      if (!copy(inner, field.payload, copied, depth + 1))
        return false;
      putBytes(out, field.number, copied);
    }
    return true;
  }

private:
  std::string_view model;

  /// raw_data is lifted, and float_data, whose packed form has the same bytes.
  bool copyTensor(std::string_view bytes, std::string &out) {
    constexpr uint64_t dataType = 2, floatData = 4, rawData = 9, location = 14;
    Field field, large;
    bool isFloat = false, isExternal = false;
    unsigned pieces = 0;
    for (Walker walker(bytes); !walker.done();) {
      if (!walker.next(field))
        return false;
      isFloat |= field.number == dataType && field.value == 1;
      isExternal |= field.number == location && field.value == 1;
      if (field.number != rawData && field.number != floatData)
        continue;
      ++pieces;
      large = field;
    }
    bool lift = pieces == 1 && !isExternal && large.wire == Bytes &&
                large.payload.size() >= kLargeBytes &&
                (large.number == rawData || isFloat);
    if (!lift) {
      out.append(bytes);
      return true;
    }
    for (Walker walker(bytes); !walker.done();) {
      walker.next(field);
      if (field.number != large.number)
        out.append(field.whole);
    }
    putEntry(out, "location", "");
    putEntry(out, "offset",
             std::to_string(large.payload.data() - model.data()));
    putEntry(out, "length", std::to_string(large.payload.size()));
    putVarint(out, location << 3 | Varint);
    putVarint(out, 1);
    return true;
  }
};

} // namespace

bool ffc::importer::makeSkeleton(std::string_view model,
                                 std::string &skeleton) {
  return Copier(model).copy(Message::Model, model, skeleton, /*depth=*/0);
}
