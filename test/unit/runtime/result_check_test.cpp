//===- result_check_test.cpp - looks at what tasks compute ----------------===//
#include "common/device/target.h"
#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"
#include "ffrt/result_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

using namespace ffrt;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Values of the device, as a box of two rows at [2, 0] of six.
template <class T> struct Box {
  Box(DType type, const std::vector<double> &values,
      Order order = Order::row_major) {
    const std::vector<T> copy(values.begin(), values.end());
    memory = allocate(copy.size() * sizeof(T));
    write_target(memory.get(), copy.data(), copy.size() * sizeof(T));
    tensor.data = memory.get();
    tensor.type = type;
    tensor.order = order;
    tensor.rank = 3;
    tensor.shape = {2, int64_t(values.size()) / 4, 2};
    tensor.global = {6, int64_t(values.size()) / 4, 2};
    tensor.lo = {2, 0, 0};
  }
  std::shared_ptr<void> memory;
  Tensor tensor;
};

template <class T> std::string bad_values(DType type, double value) {
  std::vector<double> values(12, 1.5);
  values[1] = -0.0;
  EXPECT_FALSE(find_bad_values(Box<T>(type, values).tensor));
  values[7] = values[9] = value;
  const Box<T> box(type, values);
  const std::optional<BadValues> bad = find_bad_values(box.tensor);
  return bad ? to_string(*bad) : "none";
}

TEST(ResultCheck, NamesTheFirstOfTheWholeValue) {
  const std::string place =
      "shape [2, 3, 2] at [2, 0, 0] of [6, 3, 2]: element [3, 0, 1] is ";
  EXPECT_EQ(bad_values<float>(DType::f32, kNan),
            place + "nan, 2 of 12 are not finite");
  EXPECT_EQ(bad_values<double>(DType::f64, -kInf),
            place + "-inf, 2 of 12 are not finite");
  EXPECT_EQ(bad_values<BFloat16>(DType::bf16, kInf),
            place + "inf, 2 of 12 are not finite");
  EXPECT_EQ(bad_values<Float16>(DType::f16, kNan),
            place + "nan, 2 of 12 are not finite");
  // Patterns of bits that would be numbers of that kind.
  EXPECT_EQ(bad_values<int32_t>(DType::i32, 0x7f800000), "none");
  EXPECT_FALSE(find_bad_values(Tensor()));
}

TEST(ResultCheck, LargeNumbersAreFinite) {
  EXPECT_EQ(bad_values<float>(DType::f32, std::numeric_limits<float>::max()),
            "none");
  EXPECT_EQ(bad_values<double>(DType::f64, -std::numeric_limits<double>::max()),
            "none");
  EXPECT_EQ(bad_values<BFloat16>(DType::bf16, -3.3895e38), "none");
  EXPECT_EQ(bad_values<Float16>(DType::f16, 65504), "none");
}

TEST(ResultCheck, PlacesInBuffersOfChannelsLast) {
  std::vector<double> values(12, 0);
  values[5] = kInf; // [0, 2, 1]: channels are next to each other
  const std::optional<BadValues> bad = find_bad_values(
      Box<float>(DType::f32, values, Order::channels_last).tensor);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->at[0], 2);
  EXPECT_EQ(bad->at[1], 2);
  EXPECT_EQ(bad->at[2], 1);
}

/// Two rows of three elements at [2, 0] of [6, 3], eight elements apart.
TEST(ResultCheck, LooksAtNothingBetweenRows) {
  std::vector<double> values(16, 0);
  values[3] = values[7] = values[15] = kNan;
  Box<float> box(DType::f32, values, Order::pitched);
  box.tensor.rank = 2;
  box.tensor.shape = {2, 3};
  box.tensor.global = {6, 3};
  EXPECT_FALSE(find_bad_values(box.tensor));
  values[9] = kInf;
  Box<float> bad_box(DType::f32, values, Order::pitched);
  box.tensor.data = bad_box.tensor.data;
  const std::optional<BadValues> bad = find_bad_values(box.tensor);
  ASSERT_TRUE(bad);
  EXPECT_EQ(to_string(*bad), "shape [2, 3] at [2, 0] of [6, 3]: element [3, 1] "
                             "is inf, 1 of 6 are not finite");
}

TEST(ResultCheck, FirstTaskThatIsNotUsual) {
  const Box<float> good(DType::f32, {1, 2, 3, 4}),
      bad(DType::f32, {1, kNan, 3, kInf});
  ResultCheck check(/*by_clock=*/false);
  // A mask.
  check.begin_step();
  check.next_statement();
  check.look(4, 0, bad.tensor);
  ASSERT_TRUE(check.first());
  EXPECT_EQ(check.first()->task, 4u);
  check.accept();
  check.begin_step();
  EXPECT_FALSE(check.first());
  check.next_statement();
  check.look(4, 0, bad.tensor);
  check.look(5, 0, good.tensor);
  check.next_statement();
  check.look(6, 0, good.tensor);
  check.look(6, 1, bad.tensor);
  check.next_statement();
  check.look(7, 0, bad.tensor);
  ASSERT_TRUE(check.first());
  EXPECT_EQ(check.first()->task, 6u);
  EXPECT_EQ(check.first()->result, 1);
  EXPECT_EQ(check.first()->moment, 2);
  EXPECT_EQ(check.first()->bad.count, 2);
}

TEST(ResultCheck, MomentsOfClocksAscend) {
  const Box<float> bad(DType::f32, {kNan, 0, 0, 0});
  ResultCheck one(/*by_clock=*/true), other(/*by_clock=*/true);
  one.begin_step();
  one.next_statement();
  one.look(0, 0, bad.tensor);
  other.begin_step();
  other.look(0, 0, bad.tensor);
  ASSERT_TRUE(one.first() && other.first());
  EXPECT_LE(one.first()->moment, other.first()->moment);
}

} // namespace
