//===- TextTest.cpp - lines and literals ----------------------------------===//

#include "Text.h"

#include "gtest/gtest.h"

#include <limits>

using namespace ffc::codegen;

static std::string lineOf(const char *content, int depth = 0) {
  Text text;
  for (int i = 0; i < depth; ++i)
    text.indent();
  text.line(content);
  return text.take();
}

TEST(Text, KeepsShortLines) {
  EXPECT_EQ(lineOf("f(a, b);", 1), "  f(a, b);\n");
  EXPECT_EQ(lineOf(""), "\n");
}

TEST(Text, BreaksBetweenArgumentsRatherThanInsideThem) {
  EXPECT_EQ(lineOf("forward({an_input_of_the_layer, its_weights, its_bias}, "
                   "{the_result, and_another_result});"),
            "forward({an_input_of_the_layer, its_weights, its_bias},\n"
            "    {the_result, and_another_result});\n");
}

TEST(Text, BreaksAfterAnAssignmentWhenTheRestFits) {
  std::string call = "arena(1024, f32, channels_last, {8, 64, 27, 27}, {0, 0})";
  EXPECT_EQ(lineOf(("Tensor a_tensor_of_the_layer = " + call + ";").c_str()),
            "Tensor a_tensor_of_the_layer =\n    " + call + ";\n");
}

TEST(Text, DoesNotBreakStrings) {
  std::string name(50, 'n');
  EXPECT_EQ(lineOf(("probe.offer(\"grad, " + name + ", \\\", " + name +
                    "\", tensor);")
                       .c_str()),
            "probe.offer(\n    \"grad, " + name + ", \\\", " + name +
                "\",\n    tensor);\n");
}

TEST(Text, WrapsComments) {
  Text text;
  text.comment("//", std::string(50, 'a') + " " + std::string(40, 'b'));
  EXPECT_EQ(text.take(), "// " + std::string(50, 'a') + "\n// " +
                             std::string(40, 'b') + "\n");
}

TEST(Text, NamesCannotEndAComment) {
  Text text;
  text.comment("//", "a\nb\\");
  text.banner("x\ny");
  std::string lines = text.take();
  EXPECT_EQ(lines.substr(0, 8), "// a_b_\n");
  EXPECT_EQ(lines.substr(8, 12), "//===--- x_y");
  EXPECT_EQ(lines.size(), 8u + 80u + 1u);
}

TEST(Text, LiteralsReadBackAsTheirValues) {
  EXPECT_EQ(literal(int64_t{-3}), "-3");
  EXPECT_EQ(literal(std::numeric_limits<int64_t>::min()), "INT64_MIN");
  EXPECT_EQ(literal(0.9), "0.9");
  EXPECT_EQ(literal(1.0), "1.0");
  EXPECT_EQ(literal(-0.0), "-0.0");
  EXPECT_EQ(literal(1e-5), "1e-05");
  EXPECT_EQ(literal(1e300), "1e+300");
  EXPECT_EQ(literal(0.1f), "0.10000000149011612");
  EXPECT_EQ(literal(-std::numeric_limits<double>::infinity()), "-HUGE_VAL");
}

TEST(Text, QuotesStrings) {
  EXPECT_EQ(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\012\"");
  EXPECT_EQ(quoted("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
}
