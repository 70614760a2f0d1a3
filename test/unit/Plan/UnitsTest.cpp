//===- UnitsTest.cpp - quantities with units ------------------------------===//

#include "ffc/Plan/Units.h"

#include <gtest/gtest.h>

using namespace ffc::plan;

namespace {

double parse(const std::string &text, QuantityKind kind) {
  std::string error;
  std::optional<double> value = parseQuantity(text, kind, error);
  EXPECT_TRUE(value) << error;
  return value.value_or(-1);
}

std::string errorOf(const std::string &text, QuantityKind kind) {
  std::string error;
  EXPECT_FALSE(parseQuantity(text, kind, error)) << text;
  return error;
}

TEST(Units, Bytes) {
  EXPECT_EQ(parse("141 GB", QuantityKind::Bytes), 141e9);
  EXPECT_EQ(parse("64GiB", QuantityKind::Bytes), 64.0 * (1LL << 30));
  EXPECT_EQ(parse("1.5 kB", QuantityKind::Bytes), 1500);
  EXPECT_EQ(parse("1 KB", QuantityKind::Bytes), 1000);
  EXPECT_EQ(parse("1 KiB", QuantityKind::Bytes), 1024);
  EXPECT_EQ(parse("2 MiB", QuantityKind::Bytes), 2 << 20);
  EXPECT_EQ(parse("3 TB", QuantityKind::Bytes), 3e12);
  EXPECT_EQ(parse("1 PiB", QuantityKind::Bytes), 1LL << 50);
  EXPECT_EQ(parse("7 B", QuantityKind::Bytes), 7);
  EXPECT_EQ(parse("8 kbit", QuantityKind::Bytes), 1000);
}

TEST(Units, Rates) {
  EXPECT_EQ(parse("450 GB/s", QuantityKind::BytesPerSecond), 450e9);
  EXPECT_EQ(parse("400 Gbit/s", QuantityKind::BytesPerSecond), 50e9);
  EXPECT_EQ(parse("1 MiB/s", QuantityKind::BytesPerSecond), 1 << 20);
  EXPECT_EQ(parse("60 TFLOP/s", QuantityKind::FlopsPerSecond), 60e12);
  EXPECT_EQ(parse("1e9 FLOP/s", QuantityKind::FlopsPerSecond), 1e9);
  EXPECT_EQ(parse("-1 B/s", QuantityKind::BytesPerSecond), -1);
}

TEST(Units, Times) {
  EXPECT_EQ(parse("2 us", QuantityKind::Time), 2e6);
  EXPECT_EQ(parse("2 \xC2\xB5s", QuantityKind::Time), 2e6);
  EXPECT_EQ(parse("0.5 ms", QuantityKind::Time), 5e8);
  EXPECT_EQ(parse("1 s", QuantityKind::Time), 1e12);
  EXPECT_EQ(parse("3 ns", QuantityKind::Time), 3e3);
  EXPECT_EQ(parse("0 ps", QuantityKind::Time), 0);
}

TEST(Units, NoUnit) {
  EXPECT_EQ(errorOf("450", QuantityKind::BytesPerSecond),
            "expected a bandwidth with its unit such as '450 GB/s', found "
            "'450', which has no unit");
}

TEST(Units, WrongUnit) {
  EXPECT_EQ(errorOf("450 GB", QuantityKind::BytesPerSecond),
            "expected a bandwidth with its unit such as '450 GB/s', found '450 "
            "GB', whose unit 'GB' is not one of a bandwidth");
  EXPECT_EQ(errorOf("2 usec", QuantityKind::Time),
            "expected a time with its unit such as '2 us', found '2 usec', "
            "whose unit 'usec' is not one of a time");
  for (const char *text :
       {"1 XB", "1 MiiB", "1 gB", "1 GB/s", "1 / B", "1 B B"})
    errorOf(text, QuantityKind::Bytes);
  for (const char *text : {"1 TFLOPS", "1 TB/s", "1 /s"})
    errorOf(text, QuantityKind::FlopsPerSecond);
}

TEST(Units, NotANumber) {
  EXPECT_EQ(errorOf("fast", QuantityKind::FlopsPerSecond),
            "expected a rate with its unit such as '60 TFLOP/s', found 'fast'");
  for (const char *text :
       {"", " ", "GB", "inf B", "nan B", "+1 B", "0x10 B", "1,5 B", "1..2 B"})
    errorOf(text, QuantityKind::Bytes);
}

TEST(Units, OutOfRange) {
  EXPECT_EQ(errorOf("1e400 B", QuantityKind::Bytes),
            "expected a size with its unit such as '141 GB', found '1e400 B', "
            "which is out of range");
  errorOf("1001 PB", QuantityKind::Bytes);
  errorOf("-1e300 B", QuantityKind::Bytes);
}

TEST(Units, FormatReadsBack) {
  EXPECT_EQ(formatQuantity(450e9, QuantityKind::BytesPerSecond), "450 GB/s");
  EXPECT_EQ(formatQuantity(1.5e6, QuantityKind::Time), "1.5 us");
  EXPECT_EQ(formatQuantity(0, QuantityKind::Time), "0 ps");
  EXPECT_EQ(formatQuantity(60e12, QuantityKind::FlopsPerSecond), "60 TFLOP/s");
  EXPECT_EQ(formatQuantity(999, QuantityKind::Bytes), "999 B");
  // An odd stride visits all magnitudes and many digits.
  for (double value = 1; value < 1e18; value *= 1.37)
    for (QuantityKind kind :
         {QuantityKind::Bytes, QuantityKind::BytesPerSecond,
          QuantityKind::FlopsPerSecond, QuantityKind::Time}) {
      EXPECT_EQ(parse(formatQuantity(value, kind), kind), value);
      EXPECT_EQ(parse(formatQuantity(double(int64_t(value)), kind), kind),
                double(int64_t(value)));
    }
}

} // namespace
