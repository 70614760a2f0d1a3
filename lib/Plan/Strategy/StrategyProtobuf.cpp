//===- StrategyProtobuf.cpp - FlexFlow's protobuf strategies --------------===//
//
// A message is a list of operators (field 1). What an operator's fields hold
// changed three times, and no file says which of the four it is:
//
//   2019-02   name = 1, number of dims = 2, dims = 3, devices = 4
//   2019-06   name = 1, dims = 2, devices = 3
//   2019-11   name = 1, device type = 2, dims = 3, devices = 4
//   2020-01   the same, and memory types = 5
//
// The encoding is the first in which all operators have as many devices as grid
// points.
//
//===----------------------------------------------------------------------===//

#include "StrategyFlexFlow.h"

#include "Text/Text.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace ffc::plan;

/// Numbers in a file; guards memory.
static constexpr int64_t kMaxNumbers = int64_t(1) << 24;

[[noreturn]] static void fail(size_t offset, const std::string &message) {
  throw Malformed{static_cast<int>(offset), message};
}

namespace {

/// A field of a message: a number, or the bytes from `begin` to `end`.
struct Field {
  size_t offset = 0;
  uint64_t number = 0;
  bool isBytes = false;
  uint64_t value = 0;
  size_t begin = 0, end = 0;
};

/// Reads the bytes from `at` to `end` as a message's fields.
class Wire {
public:
  Wire(const std::string &text, size_t at, size_t end)
      : text(text), at(at), end(end) {}

  bool atEnd() const { return at == end; }
  size_t offset() const { return at; }

  uint64_t varint() {
    const size_t begin = at;
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at == end)
        fail(begin,
             "expected a number, found the end of " +
                 std::string(end == text.size() ? "the file" : "its message"));
      const auto byte = static_cast<unsigned char>(text[at++]);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    fail(begin, "expected a number of at most 10 bytes, found more");
  }

  Field field() {
    Field field;
    field.offset = at;
    const uint64_t tag = varint();
    field.number = tag >> 3;
    const uint64_t wireType = tag & 7;
    if (wireType != 0 && wireType != 2)
      fail(field.offset, "field " + std::to_string(field.number) +
                             ": expected wire type 0 or 2, found " +
                             std::to_string(wireType));
    field.isBytes = wireType == 2;
    field.value = varint();
    if (!field.isBytes)
      return field;
    // Compared so that no length can overflow.
    if (field.value > end - at)
      fail(field.offset, "field " + std::to_string(field.number) +
                             ": expected " + std::to_string(field.value) +
                             " bytes, found " + std::to_string(end - at));
    field.begin = at;
    field.end = at = at + field.value;
    return field;
  }

private:
  const std::string &text;
  size_t at, end;
};

/// An operator before it is known what its fields hold.
struct RawOp {
  int at = 0;
  std::string name;
  std::array<std::vector<int64_t>, 6> fields; ///< by number, from 2
};

enum class Encoding { Y2019June, Y2019February, Y2019November };

class Reader {
public:
  explicit Reader(const std::string &text) : text(text) {}

  std::vector<FlexFlowConfig> read() {
    Wire wire(text, 0, text.size());
    while (!wire.atEnd()) {
      const Field field = wire.field();
      if (field.number != 1 || !field.isBytes)
        fail(field.offset, "expected an operator (field 1), found field " +
                               std::to_string(field.number));
      if (static_cast<int64_t>(ops.size()) == kMaxFlexFlowOps)
        fail(field.offset, "expected at most " +
                               std::to_string(kMaxFlexFlowOps) +
                               " operators, found more");
      readOp(field);
    }
    return decode();
  }

private:
  void readOp(const Field &message) {
    RawOp op;
    op.at = static_cast<int>(message.offset);
    Wire wire(text, message.begin, message.end);
    while (!wire.atEnd()) {
      const Field field = wire.field();
      if (field.number < 1 || field.number > 5 ||
          (field.number == 1 && !field.isBytes))
        fail(field.offset, "expected a name (field 1) or numbers (fields 2 to "
                           "5) of an operator, found field " +
                               std::to_string(field.number));
      if (field.number == 1) {
        op.name = text.substr(field.begin, field.end - field.begin);
        continue;
      }
      // Lists stand as one field per number, or packed into one.
      std::vector<int64_t> &numbers = op.fields[field.number];
      if (!field.isBytes) {
        add(numbers, field.value, field.offset);
        continue;
      }
      Wire packed(text, field.begin, field.end);
      while (!packed.atEnd()) {
        const size_t offset = packed.offset();
        add(numbers, packed.varint(), offset);
      }
    }
    if (op.name.empty())
      fail(message.offset, "expected an operator with a name, found none");
    ops.push_back(std::move(op));
  }

  void add(std::vector<int64_t> &numbers, uint64_t value, size_t offset) {
    if (value > uint64_t(std::numeric_limits<DeviceId>::max()))
      fail(offset, "expected a number from 0 to " +
                       std::to_string(std::numeric_limits<DeviceId>::max()) +
                       ", found " +
                       std::to_string(static_cast<int64_t>(value)));
    if (++numNumbers > kMaxNumbers)
      fail(offset, "expected at most " + std::to_string(kMaxNumbers) +
                       " numbers, found more");
    numbers.push_back(static_cast<int64_t>(value));
  }

  /// Are there as many devices as grid points, or none?
  static bool match(const std::vector<int64_t> &dims,
                    const std::vector<int64_t> &devices) {
    int64_t points = 1;
    for (int64_t degree : dims) {
      if (degree < 1 || degree > kMaxFlexFlowDegree)
        return false;
      points = std::min(points * degree, kMaxFlexFlowDegree + 1);
    }
    return !dims.empty() &&
           (devices.empty() ? points <= kMaxFlexFlowDegree
                            : points == static_cast<int64_t>(devices.size()));
  }

  static bool fits(const RawOp &op, Encoding encoding) {
    const auto &second = op.fields[2], &third = op.fields[3],
               &fourth = op.fields[4], &fifth = op.fields[5];
    switch (encoding) {
    case Encoding::Y2019June:
      return fourth.empty() && fifth.empty() && match(second, third);
    case Encoding::Y2019February:
      return second.size() == 1 && fifth.empty() &&
             second[0] == static_cast<int64_t>(third.size()) &&
             match(third, fourth);
    case Encoding::Y2019November:
      return second.size() <= 1 && (second.empty() || second[0] <= 1) &&
             match(third, fourth);
    }
    return false;
  }

  std::vector<FlexFlowConfig> decode() const {
    // The least that an encoding leaves unexplained is what the message is on.
    size_t numFitting = 0;
    for (Encoding encoding : {Encoding::Y2019June, Encoding::Y2019February,
                              Encoding::Y2019November}) {
      const auto bad =
          std::find_if(ops.begin(), ops.end(),
                       [&](const RawOp &op) { return !fits(op, encoding); });
      if (bad == ops.end())
        return decode(encoding);
      numFitting = std::max(numFitting, static_cast<size_t>(bad - ops.begin()));
    }
    fail(ops[numFitting].at,
         quoted(ops[numFitting].name) +
             ": expected degrees and as many devices as grid points in one of "
             "FlexFlow's four encodings, the same for all operators");
  }

  std::vector<FlexFlowConfig> decode(Encoding encoding) const {
    const bool early = encoding == Encoding::Y2019June;
    std::vector<FlexFlowConfig> configs;
    for (const RawOp &op : ops) {
      FlexFlowConfig config;
      config.at = op.at;
      config.name = op.name;
      config.onCpu = encoding == Encoding::Y2019November &&
                     !op.fields[2].empty() && op.fields[2][0] == 1;
      config.dims = op.fields[early ? 2 : 3];
      for (int64_t device : op.fields[early ? 3 : 4])
        config.devices.push_back(static_cast<DeviceId>(device));
      configs.push_back(std::move(config));
    }
    return configs;
  }

  const std::string &text;
  std::vector<RawOp> ops;
  int64_t numNumbers = 0;
};

} // namespace

bool ffc::plan::isFlexFlowProtobuf(const std::string &text) {
  // The tag of the first operator is a line feed; no text holds the tags of the
  // lists.
  return !text.empty() && text[0] == '\n' &&
         std::any_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 && c != '\t' &&
                  c != '\n' && c != '\r';
         });
}

std::vector<FlexFlowConfig>
ffc::plan::readFlexFlowProtobuf(const std::string &text) {
  return Reader(text).read();
}
