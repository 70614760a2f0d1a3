//===- parameter_groups_test.cpp - rates by the names of parameters -------===//
#include "common/optimizer/parameter_groups.h"

#include "ffrt/error.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

const std::vector<const char *> kNames = {"embed/table", "block0.norm.weight",
                                          "block0.norm.bias", "head:0", ""};

std::vector<ParameterGroup> groups(const std::vector<std::string> &texts) {
  std::vector<ParameterGroup> result;
  for (const std::string &text : texts)
    result.push_back(parse_group(text));
  return result;
}

std::string error_of(const std::string &text) {
  try {
    expect_matches({parse_group(text)}, kNames);
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

TEST(ParameterGroups, LastGroupThatSaysSomething) {
  const auto rates = [](const char *name) {
    return rates_of(name,
                    groups({"*norm*|*bias: wd=0", "embed*:lr = 0.1x,wd=0.5",
                            "head:0: lr=0.25", "*.bias: lr=2x"}),
                    0.5, 0.1);
  };
  EXPECT_EQ(rates("other").share, 1);
  EXPECT_EQ(rates("other").weight_decay, 0.1);
  EXPECT_EQ(rates("embed/table").share, 0.1);
  EXPECT_EQ(rates("embed/table").weight_decay, 0.5);
  // In proportion to the rate, so that a schedule changes it, too.
  EXPECT_EQ(rates("head:0").share, 0.5);
  EXPECT_EQ(rates("head:0").weight_decay, 0.1);
  // What the last one does not say stays.
  EXPECT_EQ(rates("block0.norm.bias").share, 2);
  EXPECT_EQ(rates("block0.norm.bias").weight_decay, 0);
  EXPECT_THROW(rates_of("head:0", groups({"*: lr=1"}), 0, 0), Error);
}

TEST(ParameterGroups, Patterns) {
  const auto matches = [](const char *pattern, const char *name) {
    return rates_of(name, groups({std::string(pattern) + ": wd=1"}), 1, 0)
               .weight_decay == 1;
  };
  EXPECT_TRUE(matches("abc", "abc"));
  EXPECT_TRUE(matches("a*c", "ac"));
  EXPECT_TRUE(matches("a*c*", "abbcd"));
  EXPECT_TRUE(matches("**", ""));
  EXPECT_TRUE(matches("?b?", "abc"));
  EXPECT_FALSE(matches("abc", "abcd"));
  EXPECT_FALSE(matches("b*", "abc"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_FALSE(matches("ABC", "abc"));
}

TEST(ParameterGroups, TextsAreReadAgain) {
  for (const char *text :
       {"a|b*: lr=0.1x, wd=0", "a:b: lr=0.001", "*: wd=0.30000000000000004"})
    EXPECT_EQ(to_string(parse_group(text)), text);
}

TEST(ParameterGroups, Errors) {
  EXPECT_EQ(error_of("*: wd=0"), "no error");
  EXPECT_EQ(error_of("embed_table|*bias: wd=0"),
            "expected the name of a parameter that is trained, or a pattern of "
            "some with * and ?, found 'embed_table'; near it are "
            "'embed/table', 'head:0', ''");
  EXPECT_EQ(error_of("*.wieght: wd=0"),
            "expected the name of a parameter that is trained, or a pattern of "
            "some with * and ?, found '*.wieght'; near it are "
            "'block0.norm.weight', 'block0.norm.bias', 'embed/table'");
  EXPECT_EQ(error_of("norm"), "expected PATTERN|PATTERN...: SETTING, "
                              "SETTING..., found 'norm'");
  EXPECT_EQ(error_of("a||b: wd=0"), "expected a pattern before and after every "
                                    "'|', found 'a||b: wd=0'");
  for (const char *setting : {"", "rate=1", "lr", "wd0"})
    EXPECT_EQ(error_of(std::string("a: ") + setting),
              std::string("expected lr=RATE, lr=FACTORx or wd=DECAY, found '") +
                  setting + "'");
  for (const char *setting : {"lr=", "lr=x", "lr=-1", "wd=1x", "wd=nan"})
    EXPECT_EQ(error_of(std::string("a: ") + setting),
              std::string("expected a non-negative number, found '") + setting +
                  "'");
  EXPECT_EQ(error_of("a: lr=1, lr=2x"),
            "expected one lr, found 'lr=2x' as well");
  EXPECT_EQ(error_of("a: wd=1, wd=1"), "expected one wd, found 'wd=1' as well");
}

} // namespace
