//===- marks_test.cpp - points of a step by a GPU's clock -----------------===//
//
// On an emulated GPU, on which every piece of work takes a millisecond.
//
//===----------------------------------------------------------------------===//
#include "common/profiling/marks.h"

#include "common/device/replay.h"
#include "common/device/target.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/trace.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

void work(int pieces) {
  for (int i = 0; i < pieces; ++i)
    cuda::for_elements(1, FFRT_LAMBDA(int64_t){});
}

/// Milliseconds from each mark to the next.
std::vector<double> gaps(Marks &marks) {
  const std::vector<int64_t> &times = marks.times();
  std::vector<double> result;
  for (std::size_t i = 1; i < times.size(); ++i)
    result.push_back(double(times[i] - times[i - 1]) * 1e-6);
  return result;
}

TEST(Marks, TellWhenTheDeviceCameToThem) {
  Marks marks(Trace::now);
  finish_target();
  const int64_t before = Trace::now();
  EXPECT_EQ(marks.begin(), 0);
  work(2);
  EXPECT_EQ(marks.set(), 1);
  EXPECT_EQ(marks.begin(), 1) << "what follows begins there";
  work(3);
  EXPECT_EQ(marks.set(), 2);
  EXPECT_EQ(gaps(marks), (std::vector<double>{2, 3}));
  EXPECT_GE(marks.times()[0], before);
  EXPECT_LE(marks.times()[0], Trace::now());
}

TEST(Marks, StayWhereAReplayPassesThem) {
  Marks marks(Trace::now);
  Replay replay;
  Context cx;
  int pieces = 0;
  for (int step = 0; step < 4; ++step) {
    marks.restart(0);
    marks.set();
    work(step);
    replay.run(cx, [&] {
      marks.restart(1);
      marks.set();
      work(++pieces);
      marks.set();
    });
    // Started once, and captured once.
    EXPECT_EQ(pieces, std::min(step + 1, 2));
    const auto found = gaps(marks);
    EXPECT_NEAR(found.at(0), step, 1) << "and numbers of the step";
    EXPECT_EQ(found.at(1), pieces);
  }
}

/// Work that waits for more of its kind.
class Waiting final : public cuda::Deferred {
public:
  void start() override { work(4); }
};

TEST(Marks, WhatStartsTogetherSharesItsTime) {
  Marks marks(Trace::now);
  Waiting waiting;
  marks.set();
  work(1);
  marks.set(100);
  cuda::device().defer(waiting);
  marks.set(30); // the first kernel
  marks.set(0);
  marks.set(10); // the second
  work(2);
  marks.set(5);
  EXPECT_EQ(gaps(marks), (std::vector<double>{1, 3, 0, 1, 2}));
}

TEST(Marks, OfATraceHaveTheWeightsOfItsTasks) {
  for (const bool are_told : {false, true}) {
    Trace trace;
    trace.prepare({{"a", 0, 0, 0}, {"x", 0, 0, 1}, {"b", 0, 0, 0}});
    if (are_told)
      trace.weigh({300, 100});
    Waiting waiting;
    trace.begin_step();
    trace.begin_pass();
    trace.stop(trace.start(Trace::Kind::exchange));
    cuda::device().defer(waiting);
    trace.stop(trace.start(Trace::Kind::kernel));
    trace.stop(trace.start(Trace::Kind::copy));
    trace.end_step();
    trace.keep(0);
    const auto &records = trace.steps()[0]->records;
    auto milliseconds = [&](std::size_t i) {
      return double(records[i].end - records[i].start) * 1e-6;
    };
    EXPECT_EQ(milliseconds(0), 0);
    EXPECT_EQ(milliseconds(1), are_told ? 3 : 2);
    EXPECT_EQ(milliseconds(2), are_told ? 1 : 2);
  }
}

TEST(Marks, WhatHasNoWeightEndsTogether) {
  Marks marks(Trace::now);
  Waiting waiting;
  marks.set();
  cuda::device().defer(waiting);
  marks.set();
  marks.set();
  EXPECT_EQ(gaps(marks), (std::vector<double>{4, 0}));
}

TEST(Marks, AreForgottenBeforeWhatTheyWaitFor) {
  Waiting waiting;
  {
    Marks marks(Trace::now);
    cuda::device().defer(waiting);
    marks.set();
  }
  finish_target();
}

} // namespace
