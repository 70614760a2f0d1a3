//===- StrategyProtobufTest.cpp - FlexFlow's protobuf strategies ----------===//

#include "AlexNetGraph.h"
#include "ffc/Plan/StrategyFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace ffc::plan;
using ffc::plan::testing::alexNet;
using ::testing::ElementsAre;
using ::testing::StartsWith;

namespace {

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(int field, uint64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(value);
}
std::string bytes(int field, const std::string &value) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(value.size()) +
         value;
}
std::string numbers(int field, const std::vector<uint64_t> &values) {
  std::string text;
  for (uint64_t value : values)
    text += number(field, value);
  return text;
}
std::string packed(int field, const std::vector<uint64_t> &values) {
  std::string text;
  for (uint64_t value : values)
    text += varint(value);
  return bytes(field, text);
}
std::string op(const std::string &name, const std::string &fields) {
  return bytes(1, bytes(1, name) + fields);
}

std::vector<std::string> read(const std::string &text) {
  return ffc::plan::testing::read(alexNet(), text, "s.pb");
}

std::string errorOf(const std::string &text) {
  return ffc::plan::testing::errorOf(text, "s.pb");
}

const char *const kConv = "Conv_0 {n = 2, w = 2} on 0 1 2 3";
const char *const kDense = "fc6 {c = 2} on 1 3";

TEST(StrategyProtobuf, FourEncodings) {
  // 2019-02: number of dims, dims, devices.
  EXPECT_THAT(read(op("conv1", number(2, 4) + numbers(3, {2, 1, 1, 2}) +
                                   numbers(4, {0, 1, 2, 3})) +
                   op("linear1",
                      number(2, 2) + numbers(3, {2, 1}) + numbers(4, {1, 3}))),
              ElementsAre(kConv, kDense));
  // 2019-06, and the files of v1.1.1: dims, devices.
  EXPECT_THAT(
      read(op("conv1", numbers(2, {2, 1, 1, 2}) + numbers(3, {0, 1, 2, 3})) +
           op("linear1", numbers(2, {2, 1}) + numbers(3, {1, 3}))),
      ElementsAre(kConv, kDense));
  // 2019-11: device type, dims, devices.
  EXPECT_THAT(read(op("conv1", number(2, 0) + numbers(3, {2, 1, 1, 2}) +
                                   numbers(4, {0, 1, 2, 3})) +
                   op("linear1",
                      number(2, 0) + numbers(3, {2, 1}) + numbers(4, {1, 3}))),
              ElementsAre(kConv, kDense));
  // 2020-01: the same and memory types; also as packed lists.
  EXPECT_THAT(
      read(op("conv1", number(2, 0) + packed(3, {2, 1, 1, 2}) +
                           packed(4, {0, 1, 2, 3}) + packed(5, {0, 0, 0, 0})) +
           op("linear1", number(2, 0) + numbers(3, {2, 1}) +
                             numbers(4, {1, 3}) + numbers(5, {0, 1}))),
      ElementsAre(kConv, kDense));
}

TEST(StrategyProtobuf, WithoutDevices) {
  EXPECT_THAT(read(op("linear1", number(2, 0) + numbers(3, {2, 1}))),
              ElementsAre("fc6 {c = 2} on 0 1"));
}

TEST(StrategyProtobuf, Meaning) {
  // Offsets of operators stand in messages about what they say.
  const std::string good =
      op("linear1", number(2, 0) + numbers(3, {1, 1}) + numbers(4, {0}));
  const std::string at = "s.pb: byte " + std::to_string(good.size()) + ": ";
  EXPECT_EQ(errorOf(good + op("linear2", number(2, 1) + numbers(3, {1, 1}) +
                                             numbers(4, {0}))),
            at + "'linear2': expected device type 0 (GPU), found 1 (CPU), "
                 "which ffc has no second set of devices for");
  EXPECT_EQ(errorOf(good + op("linear2", number(2, 0) + numbers(3, {1, 2}) +
                                             numbers(4, {0, 9}))),
            at + "'linear2': device 9 of 'fc7': expected 0 to 3");
  EXPECT_EQ(errorOf(good + op("linear2", number(2, 0) + numbers(3, {1, 2}) +
                                             numbers(4, {0}))),
            at + "'linear2': expected degrees and as many devices as grid "
                 "points in one of FlexFlow's four encodings, the same for all "
                 "operators");
  EXPECT_EQ(
      errorOf(good + op("13166748473652871893",
                        number(2, 0) + numbers(3, {1, 1}) + numbers(4, {0}))),
      at + "'13166748473652871893' is the hash of an operator's name, "
           "which FlexFlow of 2020 wrote in its place: expected names");
}

TEST(StrategyProtobuf, Malformed) {
  EXPECT_EQ(errorOf("\n\x7f\x0a\x01x"),
            "s.pb: byte 0: field 1: expected 127 bytes, found 3");
  EXPECT_EQ(errorOf("\n\x03\x0a\x09x"),
            "s.pb: byte 2: field 1: expected 9 bytes, found 1");
  EXPECT_EQ(errorOf("\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"),
            "s.pb: byte 0: field 1: expected 18446744073709551615 bytes, found "
            "1");
  EXPECT_EQ(errorOf("\n" + std::string(11, '\xff') + "\x01"),
            "s.pb: byte 1: expected a number of at most 10 bytes, found more");
  EXPECT_EQ(errorOf(op("linear1", "\x10")),
            "s.pb: byte 12: expected a number, found the end of the file");
  EXPECT_EQ(errorOf(op("linear1", "\x10") + "\n"),
            "s.pb: byte 12: expected a number, found the end of its message");
  EXPECT_EQ(errorOf(op("linear1", "\x15\x01\x01\x01\x01")),
            "s.pb: byte 11: field 2: expected wire type 0 or 2, found 5");
  EXPECT_EQ(errorOf(op("linear1", number(6, 1))),
            "s.pb: byte 11: expected a name (field 1) or numbers (fields 2 to "
            "5) of an operator, found field 6");
  EXPECT_EQ(
      errorOf(op("linear1", numbers(2, {1, 1}) + number(3, 0)) + number(2, 1)),
      "s.pb: byte 17: expected an operator (field 1), found field 2");
  EXPECT_EQ(errorOf(bytes(1, number(2, 1))),
            "s.pb: byte 0: expected an operator with a name, found none");
  EXPECT_EQ(errorOf(op("linear1", number(2, ~uint64_t(0)))),
            "s.pb: byte 11: expected a number from 0 to 2147483647, found -1");
}

// Whatever the bytes are, there is a strategy or one message, and no crash.
TEST(StrategyProtobuf, AnyBytes) {
  const std::string file =
      op("conv1", number(2, 0) + packed(3, {2, 1, 1, 2}) +
                      numbers(4, {0, 1, 2, 3}) + packed(5, {0, 0, 0, 0})) +
      op("linear1", number(2, 0) + numbers(3, {2, 1}) + numbers(4, {1, 3}));
  const Graph graph = alexNet();
  auto check = [&](const std::string &text) {
    std::string error;
    const auto strategy = parseStrategy(text, "s.pb", graph, 4, error);
    ASSERT_NE(strategy.has_value(), error.find("s.pb:") == 0)
        << error << "\n"
        << ::testing::PrintToString(text);
    ASSERT_EQ(error.find('\n'), std::string::npos) << error;
  };
  for (size_t size = 0; size <= file.size(); ++size)
    check(file.substr(0, size));
  // Every byte by every value, which covers lengths, tags and numbers.
  for (size_t at = 0; at < file.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = file;
      text[at] = static_cast<char>(byte);
      check(text);
    }
  const unsigned seed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20000; ++round) {
    std::string text = file;
    for (int edit = static_cast<int>(random() % 4); edit >= 0; --edit) {
      const size_t at = random() % (text.size() + 1);
      const size_t length = random() % 9;
      std::string some;
      for (size_t i = random() % 9; i > 0; --i)
        some += static_cast<char>(random());
      text.replace(at, length, some);
    }
    check(text);
  }
}

} // namespace
