//===- TaskGraphFileTest.cpp - FlexNet's files, and what is wrong with them
//===//

#include "ffc/Network/TaskGraphFile.h"
#include "ffc/Network/NetworkBuilder.h"

#include <gtest/gtest.h>

using namespace ffc::network;

namespace {

/// A computation, a transfer after it, an all-reduce after that, on a switch of
/// three servers.
TaskGraphFile smallFile() {
  TaskGraphFile file;
  file.networkBandwidth = 12.5e6F;
  file.network = makeSwitch(3, {12.5e9, 0});
  file.graph.numServers = 3;
  NetworkTask compute;
  compute.server = 2;
  compute.milliseconds = 1.5F;
  compute.next = {1};
  NetworkTask transfer;
  transfer.type = TaskType::Transfer;
  transfer.src = 2;
  transfer.dst = 0;
  transfer.bytes = int64_t(5) << 30;
  transfer.next = {2};
  NetworkTask reduce;
  reduce.type = TaskType::AllReduce;
  reduce.bytes = 1000;
  reduce.members = {2, 0, 1};
  file.graph.tasks = {compute, transfer, reduce};
  file.operators = {{1ULL << 60, 5, "Dense_100"}};
  return file;
}

std::string print(const TaskGraphFile &file) {
  std::string error;
  const auto bytes = printTaskGraph(file, error);
  EXPECT_TRUE(bytes) << error;
  return bytes ? *bytes : "";
}

TaskGraphFile parse(const std::string &bytes) {
  std::string error;
  const auto file = parseTaskGraph(bytes, "test", error);
  EXPECT_TRUE(file) << error;
  return file ? *file : TaskGraphFile();
}

std::string errorOf(const std::string &bytes) {
  std::string error;
  EXPECT_FALSE(parseTaskGraph(bytes, "test", error));
  return error;
}

TEST(TaskGraphFile, ReadsWhatItWrote) {
  const TaskGraphFile file = parse(print(smallFile()));
  ASSERT_EQ(file.graph.tasks.size(), 3u);
  EXPECT_EQ(file.graph.tasks[0].server, 2);
  EXPECT_EQ(file.graph.tasks[0].milliseconds, 1.5F);
  EXPECT_EQ(file.graph.tasks[1].src, 2);
  EXPECT_EQ(file.graph.tasks[1].dst, 0);
  EXPECT_EQ(file.graph.tasks[1].bytes, int64_t(5) << 30);
  EXPECT_EQ(file.graph.tasks[1].next, std::vector<int32_t>{2});
  EXPECT_EQ(file.graph.tasks[2].members, (std::vector<VertexId>{2, 0, 1}));
  EXPECT_EQ(file.network.links.size(), 6u);
  EXPECT_EQ(file.network.links[0].bandwidth, 12.5e9);
  EXPECT_EQ(file.network.paths.size(), 6u);
  EXPECT_EQ(file.operators[0].id, 1ULL << 60);
  EXPECT_EQ(file.operators[0].name, "Dense_100");
}

TEST(TaskGraphFile, KeepsLinksOfOneWayAndRings) {
  TaskGraphFile file = smallFile();
  file.network.numSwitches = 0;
  file.network.links = {{0, 1, 12.5e9, 0, 1},
                        {1, 2, 25e9, 0, 2},
                        {2, 1, 12.5e9, 0, 1},
                        {2, 0, 12.5e9, 0, 1}};
  file.network.paths = {{{2, 0}, {Path{{3}, 1}}},
                        {{2, 1}, {Path{{2}, 0.5}, Path{{3, 0}, 0.5}}}};
  file.network.rings = {{3, {{1}, {1}}}};
  const Network network = parse(print(file)).network;
  ASSERT_EQ(network.links.size(), 4u);
  EXPECT_EQ(network.rings, file.network.rings);
  std::map<std::pair<int, int>, int> interfaces;
  for (const Link &link : network.links)
    interfaces[{link.src, link.dst}] = link.interfaces;
  const std::map<std::pair<int, int>, int> expected = {
      {{0, 1}, 1}, {{1, 2}, 2}, {{2, 1}, 1}, {{2, 0}, 1}};
  EXPECT_EQ(interfaces, expected);
  ASSERT_EQ(network.paths.at({2, 1}).size(), 2u);
  EXPECT_EQ(network.paths.at({2, 1})[1].links.size(), 2u);
}

TEST(TaskGraphFile, FilesThatAreNotThere) {
  std::string error;
  EXPECT_FALSE(loadTaskGraph("/none", error));
  EXPECT_EQ(error, "/none: cannot be read");
}

TEST(TaskGraphFile, DamagedFiles) {
  const std::string damaged =
      "test: expected a task graph of FlexNet (FlatBuffers), found damaged or "
      "other data";
  EXPECT_EQ(errorOf(""), damaged);
  EXPECT_EQ(errorOf("some text that is no graph"), damaged);
  const std::string bytes = print(smallFile());
  for (size_t size = 0; size < bytes.size(); size += 7) {
    std::string error;
    // What is cut off may be unused, but nothing is read beyond the end.
    parseTaskGraph(bytes.substr(0, size), "test", error);
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes, error;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    parseTaskGraph(flipped, "test", error);
  }
}

TEST(TaskGraphFile, WhatFilesCannotSay) {
  std::string error;
  TaskGraphFile file = smallFile();
  file.network.links[3].bandwidth = 1e9;
  EXPECT_FALSE(printTaskGraph(file, error));
  EXPECT_EQ(error, "expected links of equal interfaces of 12500000000.000000 "
                   "bytes/s, found 1000000000.000000 bytes/s on the 1 from 3 "
                   "to 1");
  file = smallFile();
  file.network.links.push_back(file.network.links[0]);
  EXPECT_FALSE(printTaskGraph(file, error));
  EXPECT_EQ(error, "expected one link from 0 to 3, found two");
  file = smallFile();
  file.network.numServers = 4;
  EXPECT_FALSE(printTaskGraph(file, error));
  EXPECT_EQ(error, "expected a network of 3 servers, found 4");
}

TEST(TaskGraph, Faults) {
  auto faultAfter = [](auto change) {
    TaskGraph graph = smallFile().graph;
    change(graph.tasks);
    return faultOf(graph);
  };
  using Tasks = std::vector<NetworkTask>;
  EXPECT_EQ(faultAfter([](Tasks &) {}), "");
  EXPECT_EQ(faultAfter([](Tasks &tasks) { tasks[1].next = {0}; }),
            "expected tasks without a cycle, found task 0 in one or after one");
  EXPECT_EQ(faultAfter([](Tasks &tasks) { tasks[1].next = {3}; }),
            "task 1: expected one of 3 tasks to follow, found 3");
  EXPECT_EQ(faultAfter([](Tasks &tasks) { tasks[0].milliseconds = -1; }),
            "task 0: expected a time from 0 to 1e9 ms, found -1.000000 ms");
  EXPECT_EQ(faultAfter([](Tasks &tasks) { tasks[0].server = 3; }),
            "task 0: expected one of 3 servers to compute, found 3");
  EXPECT_EQ(faultAfter([](Tasks &tasks) { tasks[1].bytes = -1; }),
            "task 1: expected a size of 0 bytes or more, found -1");
  EXPECT_EQ(faultAfter([](Tasks &tasks) { tasks[2].members = {}; }),
            "task 2: expected an all-reduce with members, found none");
  EXPECT_EQ(faultAfter([](Tasks &tasks) {
              tasks[2].members = {0, 3};
            }),
            "task 2: expected an all-reduce among 3 servers, found member 3");
  EXPECT_EQ(faultAfter([](Tasks &tasks) { tasks[2].next = {0}; }),
            "task 2: expected nothing after an all-reduce, found 1 tasks");
  EXPECT_EQ(
      faultAfter([](Tasks &tasks) { tasks[0].type = TaskType::LinkTransfer; }),
      "task 0: expected a task of type 0, 1 or 3 to 6, found type 2");
  EXPECT_EQ(faultAfter([](Tasks &tasks) {
              for (NetworkTask &task : tasks)
                task.milliseconds = 4e8F;
            }),
            "expected tasks of at most 1e9 ms together, found "
            "1200000000.000000 ms");
}

} // namespace
