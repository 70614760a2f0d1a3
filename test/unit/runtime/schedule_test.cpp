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
