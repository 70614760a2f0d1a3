//===- timestamps_test.cpp - points of a step by a GPU's clock ------------===//
//
// On an emulated GPU, on which every piece of work takes a millisecond.
//
//===----------------------------------------------------------------------===//
#include "common/profiling/timestamps.h"

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

/// Milliseconds from each timestamp to the next.
std::vector<double> gaps(Timestamps &timestamps) {
  const std::vector<int64_t> &times = timestamps.times();
  std::vector<double> result;
  for (std::size_t i = 1; i < times.size(); ++i)
    result.push_back(double(times[i] - times[i - 1]) * 1e-6);
  return result;
}

TEST(Timestamps, TellWhenTheDeviceCameToThem) {
  Timestamps timestamps(Trace::now);
  finish_target();
  const int64_t before = Trace::now();
  EXPECT_EQ(timestamps.begin(), 0);
  work(2);
  EXPECT_EQ(timestamps.record(), 1);
  EXPECT_EQ(timestamps.begin(), 1) << "what follows begins there";
  work(3);
  EXPECT_EQ(timestamps.record(), 2);
  EXPECT_EQ(gaps(timestamps), (std::vector<double>{2, 3}));
  EXPECT_GE(timestamps.times()[0], before);
  EXPECT_LE(timestamps.times()[0], Trace::now());
}

TEST(Timestamps, StayWhereAReplayPassesThem) {
  Timestamps timestamps(Trace::now);
  Replay replay;
  Context cx;
  int pieces = 0;
  for (int step = 0; step < 4; ++step) {
    timestamps.restart(0);
    timestamps.record();
    work(step);
    replay.run(cx, [&] {
      timestamps.restart(1);
      timestamps.record();
      work(++pieces);
      timestamps.record();
    });
    // Started once, and captured once.
    EXPECT_EQ(pieces, std::min(step + 1, 2));
    const auto found = gaps(timestamps);
    EXPECT_NEAR(found.at(0), step, 1) << "and numbers of the step";
    EXPECT_EQ(found.at(1), pieces);
  }
}

/// Work that waits for more of its kind.
class Waiting final : public cuda::Deferred {
public:
  void start() override { work(4); }
};

TEST(Timestamps, WhatStartsTogetherSharesItsTime) {
  Timestamps timestamps(Trace::now);
  Waiting waiting;
  timestamps.record();
  work(1);
  timestamps.record(100);
  cuda::device().defer(waiting);
  timestamps.record(30); // the first kernel
  timestamps.record(0);
  timestamps.record(10); // the second
  work(2);
  timestamps.record(5);
  EXPECT_EQ(gaps(timestamps), (std::vector<double>{1, 3, 0, 1, 2}));
}

TEST(Timestamps, OfATraceHaveTheWeightsOfItsTasks) {
  for (const bool are_told : {false, true}) {
    Trace trace;
    trace.prepare({{"a", 0, 0, 0}, {"x", 0, 0, 1}, {"b", 0, 0, 0}});
    if (are_told)
      trace.weigh({300, 100});
    Waiting waiting;
    trace.begin_step();
    trace.begin_micro_batch();
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

TEST(Timestamps, WhatHasNoWeightEndsTogether) {
  Timestamps timestamps(Trace::now);
  Waiting waiting;
  timestamps.record();
  cuda::device().defer(waiting);
  timestamps.record();
  timestamps.record();
  EXPECT_EQ(gaps(timestamps), (std::vector<double>{4, 0}));
}

TEST(Timestamps, AreForgottenBeforeWhatTheyWaitFor) {
  Waiting waiting;
  {
    Timestamps timestamps(Trace::now);
    cuda::device().defer(waiting);
    timestamps.record();
  }
  finish_target();
}

} // namespace
