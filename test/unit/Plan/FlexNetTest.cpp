//===- FlexNetTest.cpp - measurements of FlexNet --------------------------===//

#include "ffc/Plan/FlexNet.h"
#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Cost.h"

#include <gtest/gtest.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

constexpr Picoseconds kMillisecond = 1'000'000'000;

std::string measures(const std::string &list, int batch = 12) {
  return "{\"batch_size\": " + std::to_string(batch) +
         ", \"ngpus\": 2, \"measurements\": [\n" + list + "]}\n";
}

std::string measure(const std::string &name, const std::string &degrees,
                    const std::string &forward, const std::string &backward) {
  return R"({"name": ")" + name + R"(", "pc_str": ")" + degrees +
         R"(", "fw_time": )" + forward + R"(, "bw_time": )" + backward +
         R"(, "mem_req": 1000})" + "\n";
}

/// The profile of the training graph: products of 10 x 8 and 8 x 6, of which
/// the second has a gradient.
std::shared_ptr<const Profile> profileOf(const std::string &text,
                                         std::string &error) {
  auto profile = Profile::parse(text, "measure.json", error);
  return profile
             ? profileForGraph(profile, trainingGraph().graph, ranks(2), error)
             : nullptr;
}

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_EQ(profileOf(text, error), nullptr);
  return error;
}

TEST(FlexNet, OperatorsByStructure) {
  std::string error;
  const auto profile = profileOf(
      measures(measure("Dense_10_8", "2-1-1", "1", "7") + "," +
               measure("Dense_8_6", "2-1-1", "2.0", "3") + "," +
               measure("Dense_8_6", "2-1-2", "1.5", "2") + "," +
               // Not of the model: another size, another operator.
               measure("Dense_9_6", "2-1-1", "9", "9") + "," +
               measure("MultiHeadAttention_8", "2-1-1", "9", "9") + "," +
               // More parts than samples.
               measure("Dense_8_6", "2-1-16", "9", "9")),
      error);
  ASSERT_TRUE(profile) << error;
  auto time = [&](const char *key) {
    LocalWork work;
    work.key = key;
    return profile->find(work).value_or(-1);
  };
  EXPECT_EQ(time("product() f32[12,10] f32[10,8] -> f32[12,8]"), kMillisecond);
  EXPECT_EQ(time("product() f32[12,8] f32[8,6] -> f32[12,6]"),
            2 * kMillisecond);
  EXPECT_EQ(time("outer() f32[12,8] f32[12,6] -> f32[8,6]"), 3 * kMillisecond);
  EXPECT_EQ(time("product() f32[6,8] f32[8,6] -> f32[6,6]"),
            3 * kMillisecond / 2);
  EXPECT_EQ(time("outer() f32[6,8] f32[6,6] -> f32[8,6]"), 2 * kMillisecond);
  EXPECT_EQ(time("window() f32[12,8] -> f32[12,8]"), -1);
  // The file does not say for which device.
  const CostModel cost(overlapping(2), profile);
  LocalWork work;
  work.kernel = "product";
  work.key = "product() f32[12,8] f32[8,6] -> f32[12,6]";
  EXPECT_EQ(cost.local(1, work).time, 2 * kMillisecond);
}

TEST(FlexNet, Messages) {
  const std::string good = measure("Dense_8_6", "2-1-1", "2", "3");
  EXPECT_EQ(errorOf(measures(good, 64)),
            "expected measurements at batch 12 as the model has, found batch "
            "64");
  std::string others = measures(good);
  others.replace(others.find("\"ngpus\": 2"), 10, "\"ngpus\": 5");
  EXPECT_EQ(errorOf(others), "expected measurements for 2 devices as the "
                             "topology has, found 'ngpus' 5");
  EXPECT_EQ(errorOf(measures(measure("Dense_3_4", "2-1-1", "2", "3"))),
            "expected measurements of operators of the model, found none, but "
            "such as 'Dense_3_4'");
  for (const char *degrees : {"2-1", "1-0", "2", "", "2-1-x", "1--1"})
    EXPECT_EQ(errorOf(measures(measure("Dense_8_6", degrees, "2", "3")))
                  .substr(0, 32),
              std::string("measure.json:2: expected ") +
                  (*degrees ? "'pc_str" : "the deg"))
        << degrees;
  EXPECT_EQ(errorOf(measures(measure("Dense_8_6", "2-1-1", "-2", "3"))),
            "measure.json:2: expected 'fw_time' of a measurement to be a "
            "number of at least 0, found '-2'");
  EXPECT_EQ(errorOf("{\"measurements\": []}"),
            "measure.json:1: a file of measurements lacks the key "
            "'batch_size'");
  EXPECT_EQ(errorOf(measures("")),
            "measure.json:1: expected measurements to be a list, found an "
            "empty one");
  EXPECT_EQ(errorOf(measures("{\"name\": \"Dense_8_6\"}")),
            "measure.json:2: a measurement lacks the key 'pc_str'");
}

} // namespace
