//===- tuner_test.cpp - plans of libraries are chosen and kept ------------===//
#include "cuda/plans/tuner.h"

#include "common/device/target.h"
#include "cuda/conv/conv_library.h"
#include "cuda/matmul/gemm.h"
#include "cuda/plans/plan_timer.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/error.h"

#include <functional>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt::cuda;

namespace {

constexpr double kFails = -1, kUnmeasured = -2;

/// Plans that take so many seconds.
class Fake : public Candidates {
public:
  explicit Fake(std::vector<double> times, std::vector<std::string> names = {})
      : times(std::move(times)), given(std::move(names)) {
    for (std::size_t i = given.size(); i < this->times.size(); ++i)
      given.push_back("plan " + std::to_string(i));
  }
  std::vector<std::string> names() const override { return given; }
  void take(std::size_t i) override {
    taken = -1;
    if (times[i] == kFails || (int(i) == once && taken_once))
      throw Error("plan " + std::to_string(i) + " fails");
    taken_once |= int(i) == once;
    taken = int(i);
  }
  double seconds() override {
    ++measured;
    const double time = times[std::size_t(taken)];
    if (time == kUnmeasured)
      throw Error("out of memory");
    return time;
  }

  int taken = -1, measured = 0;
  int once = -1; ///< a plan that cannot be taken again

private:
  bool taken_once = false;
  std::vector<double> times;
  std::vector<std::string> given;
};

std::string error_of(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &e) {
    return e.what();
  }
  return "no error";
}

TEST(Tuner, TakesTheFirstThatWorksUntilItIsStarted) {
  Tuner tuner;
  Fake candidates({kFails, 3, 1});
  tuner.choose("p", candidates);
  EXPECT_EQ(candidates.taken, 1);
  EXPECT_EQ(candidates.measured, 0);
  EXPECT_EQ(tuner.found().size(), 0u);
}

TEST(Tuner, TakesTheFastest) {
  Tuner tuner;
  tuner.start("gpu", {});
  Fake candidates({3, kFails, 1, kUnmeasured, 2});
  tuner.choose("p", candidates);
  EXPECT_EQ(candidates.taken, 2);
  EXPECT_EQ(tuner.found().text(), "ffrt plans 1\ngpu; p -> plan 2\n");
  // The same problem again.
  Fake again({3, 2, 1});
  tuner.choose("p", again);
  EXPECT_EQ(again.taken, 2);
  EXPECT_EQ(again.measured, 0);
  // One that fails takes the one before with it.
  Fake last({2, 1, kFails});
  tuner.choose("q", last);
  EXPECT_EQ(last.taken, 1);
}

TEST(Tuner, WhatWorksOnlyOnceIsNotTaken) {
  Tuner tuner;
  tuner.start("gpu", {});
  Fake candidates({3, 1, 2});
  candidates.once = 1;
  tuner.choose("p", candidates);
  EXPECT_EQ(candidates.taken, 2);
  EXPECT_EQ(tuner.found().text(), "ffrt plans 1\ngpu; p -> plan 2\n");
}

TEST(Tuner, KeepsWhatItFindsAtOnce) {
  Tuner tuner;
  tuner.start("gpu", {});
  std::vector<std::string> kept;
  tuner.keep = [&](const PlanCache &found) { kept.push_back(found.text()); };
  Fake candidates({2, 1}), more({1, 2});
  tuner.choose("p", candidates);
  tuner.choose("q", more);
  tuner.choose("q", more);
  EXPECT_EQ(kept, (std::vector<std::string>{
                      "ffrt plans 1\ngpu; p -> plan 1\n",
                      "ffrt plans 1\ngpu; p -> plan 1\ngpu; q -> plan 0\n"}));
}

TEST(Tuner, MeasuresTheFirstOfMany) {
  Tuner tuner;
  tuner.start("gpu", {});
  std::vector<double> times(50, 2.0);
  times[15] = 1.5;
  times.back() = 1;
  Fake candidates(times);
  tuner.choose("p", candidates);
  EXPECT_EQ(candidates.measured, 16);
  EXPECT_EQ(candidates.taken, 15);
  tuner.most_seconds = 0;
  Fake slow({kFails, 3, 2, 1});
  tuner.choose("q", slow);
  EXPECT_EQ(slow.measured, 1);
  EXPECT_EQ(slow.taken, 1);
}

TEST(Tuner, WhatCannotBeMeasuredIsNotKept) {
  Tuner tuner;
  tuner.start("gpu", {});
  Fake candidates({kFails, kUnmeasured, kUnmeasured});
  tuner.choose("p", candidates);
  EXPECT_EQ(candidates.taken, 1);
  EXPECT_EQ(tuner.plans().size(), 0u);
}

TEST(Tuner, ASinglePlanIsTaken) {
  Tuner tuner;
  tuner.start("gpu", {});
  Fake candidates({1});
  tuner.choose("p", candidates);
  EXPECT_EQ(candidates.taken, 0);
  EXPECT_EQ(candidates.measured, 0);
  EXPECT_EQ(tuner.plans().size(), 0u);
}

TEST(Tuner, NoPlanWorks) {
  Tuner tuner;
  Fake candidates({kFails, kFails}), none({});
  EXPECT_EQ(error_of([&] { tuner.choose("p", candidates); }), "plan 1 fails");
  EXPECT_EQ(error_of([&] { tuner.choose("p", none); }), "there is no plan");
  tuner.start("gpu", {});
  EXPECT_EQ(error_of([&] { tuner.choose("p", candidates); }), "plan 1 fails");
}

TEST(Tuner, TakesWhatIsKnown) {
  Tuner first;
  first.start("gpu", {});
  Fake candidates({3, 1, 2});
  first.choose("p", candidates);

  PlanCache read;
  read.read(first.plans().text(), "file");
  Tuner second;
  second.start("gpu", read);
  // Now another one would be faster.
  Fake later({1, 3, 2});
  second.choose("p", later);
  EXPECT_EQ(later.taken, 1);
  EXPECT_EQ(later.measured, 0);
  EXPECT_EQ(second.found().size(), 0u);
  // Other problems, and other devices, are measured.
  second.choose("q", later);
  EXPECT_EQ(later.taken, 0);
  Tuner other;
  other.start("other gpu", read);
  other.choose("p", later);
  EXPECT_EQ(later.taken, 0);
}

TEST(Tuner, WhatIsKnownMustWork) {
  PlanCache known;
  known.set("gpu; fails", "plan 0");
  known.set("gpu; foreign", "plan 9");
  for (const std::string problem : {"fails", "foreign"}) {
    Tuner tuner;
    tuner.start("gpu", known);
    Fake candidates({kFails, 2, 1});
    tuner.choose(problem, candidates);
    EXPECT_EQ(candidates.taken, 2);
    EXPECT_EQ(*tuner.plans().find("gpu; " + problem), "plan 2");
  }
}

TEST(Tuner, PlansOfOneNameAreNumbered) {
  Tuner tuner;
  tuner.start("gpu", {});
  Fake candidates({3, 2, 1}, {"a", "b", "a"});
  tuner.choose("p", candidates);
  EXPECT_EQ(*tuner.plans().find("gpu; p"), "a #2");
  Fake again({1, 2, 3}, {"a", "b", "a"});
  tuner.choose("p", again);
  EXPECT_EQ(again.taken, 2);
}

TEST(Tuner, LearnsFromOtherRanks) {
  Tuner tuner;
  tuner.start("gpu", {});
  Fake candidates({3, 2, 1});
  tuner.choose("p", candidates);
  PlanCache agreed;
  agreed.set("gpu; p", "plan 0");
  EXPECT_TRUE(tuner.found().contradicts(agreed));
  EXPECT_FALSE(tuner.found().contradicts(tuner.plans()));
  tuner.learn(agreed);
  tuner.choose("p", candidates);
  EXPECT_EQ(candidates.taken, 0);
}

TEST(PlanCache, ReadsWhatItWrites) {
  PlanCache plans, read;
  plans.set("gpu; b", "2");
  plans.set("gpu; a - > c", "engine 3, settings 1=2");
  EXPECT_EQ(plans.text(), "ffrt plans 1\n"
                          "gpu; a - > c -> engine 3, settings 1=2\n"
                          "gpu; b -> 2\n");
  read.read(plans.text(), "file");
  EXPECT_EQ(read.text(), plans.text());
  PlanCache other;
  other.set("gpu; b", "3");
  other.set("gpu; d", "4");
  read.add(other);
  EXPECT_EQ(*read.find("gpu; b"), "2");
  EXPECT_EQ(*read.find("gpu; d"), "4");
  EXPECT_EQ(read.find("gpu; e"), nullptr);
}

TEST(PlanCache, RefusesOtherFiles) {
  auto error = [](const std::string &text) {
    PlanCache plans;
    return error_of([&] { plans.read(text, "f"); });
  };
  EXPECT_EQ(error(""), "f:1: expected 'ffrt plans 1', found ''");
  EXPECT_EQ(error("ffrt plans 2\n"),
            "f:1: expected 'ffrt plans 1', found 'ffrt plans 2'");
  const std::string line =
      "expected 'PROBLEM -> PLAN' and the end of a line, found ";
  EXPECT_EQ(error("ffrt plans 1\na -> b\na b\n"), "f:3: " + line + "'a b'");
  EXPECT_EQ(error("ffrt plans 1\n -> b\n"), "f:2: " + line + "' -> b'");
  EXPECT_EQ(error("ffrt plans 1\na -> \n"), "f:2: " + line + "'a -> '");
  EXPECT_EQ(error("ffrt plans 1\na -> b -> c\n"),
            "f:2: " + line + "'a -> b -> c'");
  // It was cut off.
  EXPECT_EQ(error("ffrt plans 1\na -> b"), "f:2: " + line + "'a -> b'");
  EXPECT_EQ(error("ffrt plans 1\na -> b\na -> c\n"),
            "f:3: expected every problem once, found 'a'");
}

TEST(PlanTimer, TimesWhatTheStreamDoes) {
  TimedOperands operands;
  char *const data = static_cast<char *>(operands.add(64));
  char last = 0;
  read_target(&last, data + 63, 1);
  EXPECT_NE(last, 0);
  // An emulated device takes a millisecond for all that it is given.
  auto work = [&](int pieces) {
    return [&, pieces] {
      for (int i = 0; i < pieces; ++i)
        cudaMemsetAsync(data, 0, 64, device().stream());
    };
  };
  EXPECT_NEAR(seconds_of(work(1)), 0.001, 1e-9);
  EXPECT_NEAR(seconds_of(work(3)), 0.003, 1e-9);
}

TEST(PlanTimer, SaysWhenThereIsNoMemory) {
  TimedOperands operands;
  EXPECT_EQ(error_of([&] { operands.add(std::size_t(1) << 60); }),
            "cudaMalloc: out of memory");
  // That is no error of what comes next.
  seconds_of([] { for_elements(1, FFRT_LAMBDA(int64_t){}); });
}

TEST(Device, KeepsItsScratchWhenThereIsNoMore) {
  device().reserve(1000);
  EXPECT_EQ(error_of([] { device().reserve(std::size_t(1) << 60); }),
            "cudaMalloc: out of memory");
  EXPECT_NE(device().scratch<char>(), nullptr);
  for_elements(1, FFRT_LAMBDA(int64_t){});
  EXPECT_EQ(error_of([] { ffrt::allocate(std::size_t(1) << 60); }),
            "cannot allocate 1152921504606846976 bytes on the GPU");
  for_elements(1, FFRT_LAMBDA(int64_t){});
  device().finish();
}

TEST(Problems, AreNamedByAllThatMatters) {
  GemmShape gemm;
  gemm.m = 2;
  gemm.n = 3;
  gemm.k = 4;
  EXPECT_EQ(text_of(gemm), "product 2x3x4 f32 aligned 64");
  gemm.tf32 = gemm.trans_a = true;
  gemm.addend = GemmShape::Addend::matrix;
  EXPECT_EQ(text_of(gemm), "product 2x3x4 tf32 a^T + matrix aligned 64");
  gemm.operand_type = DType::bf16;
  gemm.trans_b = true;
  gemm.addend = GemmShape::Addend::result;
  gemm.count = 5;
  gemm.stride_a = 8;
  gemm.stride_y = 6;
  gemm.row = gemm.relu = true;
  gemm.begins_after(8);
  EXPECT_EQ(text_of(gemm),
            "product 2x3x4 bf16 a^T b^T batch 5 at 8,0,6 + row + result relu "
            "aligned 8");
  gemm.addend = GemmShape::Addend::none;
  gemm.count = 1;
  gemm.result = DType::bf16;
  EXPECT_EQ(text_of(gemm),
            "product 2x3x4 bf16 to bf16 a^T b^T + row relu aligned 8");
  using Gelu = GemmShape::Gelu;
  gemm = {};
  gemm.row = true;
  const std::string row = "product 0x0x0 f32 + row", aligned = " aligned 64";
  gemm.gelu = Gelu::forward;
  EXPECT_EQ(text_of(gemm), row + " gelu" + aligned);
  gemm.gelu = Gelu::forward_kept;
  EXPECT_EQ(text_of(gemm), row + " gelu, operand kept" + aligned);
  gemm.gelu = Gelu::backward;
  EXPECT_EQ(text_of(gemm), row + " gelu gradient" + aligned);

  auto tensor = [](std::initializer_list<int64_t> shape, DType type) {
    Tensor t;
    t.rank = int(shape.size());
    t.shape = Index(shape);
    t.type = type;
    return t;
  };
  ConvShape conv;
  conv.x = tensor({1, 2, 8, 8}, DType::bf16);
  conv.x.order = Order::channels_last;
  conv.w = tensor({4, 2, 3, 3}, DType::bf16);
  conv.y = tensor({1, 4, 8, 8}, DType::f32);
  conv.strides = {1, 2};
  conv.dilations = conv.pads = {1, 1};
  const std::string text =
      "1x2x8x8 bf16 last, 4x2x3x3 bf16, 1x4x8x8 f32, strides 1x2 dilations 1x1 "
      "pads 1x1";
  EXPECT_EQ(text_of(conv), "convolution " + text);
  conv.bias = conv.tf32 = true;
  conv.clip = {0, 6.5f};
  EXPECT_EQ(text_of(conv),
            "convolution tf32 " + text + " + bias from 0 to 6.5");
  conv.y.type = DType::bf16;
  EXPECT_EQ(text_of(conv),
            "convolution tf32 1x2x8x8 bf16 last, 4x2x3x3 bf16, 1x4x8x8 bf16, "
            "strides 1x2 dilations 1x1 pads 1x1 + bias from 0 to 6.5");
  conv.y.type = DType::f32;
  conv.kind = ConvShape::Kind::weight_gradient;
  conv.bias = false;
  conv.clip = ConvShape().clip;
  EXPECT_EQ(text_of(conv), "weight gradient tf32 " + text);
}

} // namespace
