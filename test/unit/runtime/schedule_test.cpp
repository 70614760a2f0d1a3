//===- schedule_test.cpp - chunks of schedules ----------------------------===//
#include "ffrt/schedule.h"

#include <gtest/gtest.h>

using ffrt::Schedule;

TEST(Schedule, ChunksCoverAllElementsOnce) {
  Schedule schedule;
  schedule.kind = Schedule::Kind::all_gather;
  schedule.members = 3;
  schedule.chunks = 6;
  EXPECT_EQ(schedule.chunk_begin(15, 0), 0);
  EXPECT_EQ(schedule.chunk_begin(15, 1), 3); // of 5 elements 3 and 2
  EXPECT_EQ(schedule.chunk_begin(15, 2), 5);
  EXPECT_EQ(schedule.chunk_begin(15, 6), 15);
  schedule.kind = Schedule::Kind::all_reduce;
  EXPECT_EQ(schedule.chunk_begin(4, 3), 3);
  EXPECT_EQ(schedule.chunk_begin(4, 4), 4); // the last two are empty
  EXPECT_EQ(schedule.chunk_begin(4, 6), 4);
}

TEST(Schedule, IsReadFromText) {
  const Schedule schedule =
      Schedule::read("reduce_scatter direct 2 2 2 0 1 0 1 0 1");
  EXPECT_EQ(schedule.kind, Schedule::Kind::reduce_scatter);
  EXPECT_EQ(schedule.algorithm, "direct");
  EXPECT_EQ(schedule.reducing, 2u);
  ASSERT_EQ(schedule.transfers.size(), 2u);
  EXPECT_EQ(schedule.transfers[1].chunk, 1);
  EXPECT_EQ(schedule.transfers[1].dst, 1);
}

/// The steps of the transfers.
static std::vector<int> steps_of(const char *text) {
  std::vector<int> steps;
  for (const Schedule::Transfer &t : Schedule::read(text).transfers)
    steps.push_back(t.step);
  return steps;
}

TEST(Schedule, TransfersOfAStepDoNotWaitForEachOther) {
  // Round a ring: nobody expects in a step what is sent in the next one.
  EXPECT_EQ(steps_of("all_gather rings 3 3 0 0 0 1 1 1 2 2 2 0 "
                     "2 0 1 0 1 2 1 2 0"),
            (std::vector{0, 0, 0, 1, 1, 1}));
  // Several are reduced into one chunk in a step, which is then overwritten
  // where it was sent from.
  EXPECT_EQ(steps_of("all_reduce direct 3 1 2 0 1 0 0 2 0 0 0 1 0 0 2"),
            (std::vector{0, 0, 1, 1}));
}
