//===- report_test.cpp - what a run says of itself ------------------------===//
#include "common/program/head.h"
#include "common/program/live_line.h"
#include "common/program/rank_map.h"
#include "common/program/report.h"
#include "common/program/say.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

ProgramInfo program(std::vector<int> nodes) {
  ProgramInfo info{};
  info.model = "m.onnx";
  info.ranks = int(nodes.size());
  info.training = true;
  info.batch = 64;
  info.predicted_step_seconds = 0.0125;
  info.inputs = {{"x", DType::f32, 2, {64, 10}, false, 0}};
  for (int node : nodes)
    info.rank_info.push_back({1000000, 500000 + node, 2e9, 0.01, node});
  return info;
}

RankPlace place(const char *host, std::vector<int> cores, int online,
                const char *gpu = "") {
  return {host, int64_t(host[0]), std::move(cores), online, gpu};
}

TEST(Say, Figures) {
  EXPECT_EQ(with_prefix(0), "0 ");
  EXPECT_EQ(with_prefix(999.4), "999 ");
  EXPECT_EQ(with_prefix(999.6), "1 k");
  EXPECT_EQ(with_prefix(1.234e12), "1.23 T");
  EXPECT_EQ(clock_text(0.9), "0:00");
  EXPECT_EQ(clock_text(754), "12:34");
  EXPECT_EQ(clock_text(7500), "2:05:00");
  EXPECT_EQ(clock_text(-1), "0:00");
}

TEST(LiveLine, LeavesOutWhatDoesNotFit) {
  LiveStatus s;
  s.epoch = 1.25;
  s.step = 120;
  s.steps = 1000;
  s.loss = 2.302585;
  s.metrics = {{"accuracy", 0.875}};
  s.rate = 0.01;
  s.samples = 650;
  s.flops = 1.2e12;
  s.peak_flops = 1.6e12;
  s.resident_bytes = 312000000;
  s.seconds_left = 83;
  const std::string all =
      "epoch 1.25  step 120/1000  loss 2.303  accuracy 0.875  650 samples/s  "
      "1.2 TFLOP/s (75 % of peak)  lr 0.01  RSS 312 MB  left 1:23";
  const int width = int(all.size());
  EXPECT_EQ(live_text(s, width), all);
  EXPECT_EQ(live_text(s, width - 1),
            "epoch 1.25  step 120/1000  loss 2.303  accuracy 0.875  650 "
            "samples/s  1.2 TFLOP/s (75 % of peak)  lr 0.01  left 1:23");
  EXPECT_EQ(live_text(s, 40), "step 120/1000  loss 2.303  left 1:23");
  EXPECT_EQ(live_text(s, 13), "step 120/1000");
  EXPECT_EQ(live_text(s, 4), "step");
  for (int most = 1; most < width; ++most)
    EXPECT_LE(live_text(s, most).size(), std::size_t(most));
  s.tokens = 25600;
  EXPECT_NE(live_text(s, 200).find("25.6 k tokens/s"), std::string::npos);
  EXPECT_EQ(live_text(s, 200).find("samples"), std::string::npos);
}

TEST(LiveLine, LossesAreSmoothed) {
  Smoothed mean;
  EXPECT_EQ(mean.value(), 0);
  std::vector<double> losses = {3};
  mean.follow(losses);
  EXPECT_EQ(mean.value(), 3);
  losses.push_back(1);
  mean.follow(losses);
  mean.follow(losses);
  EXPECT_NEAR(mean.value(), (0.99 * 3 + 1) / 1.99, 1e-12);
  losses.resize(2000, 0.5);
  mean.follow(losses);
  EXPECT_NEAR(mean.value(), 0.5, 1e-6);
}

TEST(LiveLine, TokensAreThoseOfTexts) {
  ProgramInfo info = program({0});
  EXPECT_EQ(tokens_of_step(info), 0);
  info.inputs = {{"ids", DType::i64, 2, {8, 32}, false, 100},
                 {"target", DType::i64, 2, {8, 32}, true, 100}};
  EXPECT_EQ(tokens_of_step(info), 256);
  info.micro_batches = 2;
  EXPECT_EQ(tokens_of_step(info), 512);
  info.inputs.push_back({"dense", DType::f32, 2, {8, 4}, false, 0});
  EXPECT_EQ(tokens_of_step(info), 0);
  info.inputs.back() = {"tables", DType::i32, 2, {8, 4}, false, 9};
  EXPECT_EQ(tokens_of_step(info), 0);
}

TEST(Head, SaysWhatRuns) {
  ProgramInfo info = program({0, 0});
  info.rank_info[1].arena_bytes += 2000000;
  const std::vector<RankPlace> places = {place("a", {0, 1}, 2),
                                         place("a", {0, 1}, 2)};
  EXPECT_EQ(head_text(info, places),
            "model       m.onnx, training\n"
            "batch       64, 4 GFLOP a step\n"
            "predicted   12.5 ms a step, 320 GFLOP/s\n"
            "ranks       2 on one host: a (2 cores)\n"
            "memory      1.5 MB to 3.5 MB planned for a rank");
  info.trained = "6 values trained (26506 numbers, 106.0 kB), 0 frozen";
  info.strategy = "search: 3 by n";
  info.micro_batches = 2;
  info.peak_flops = 640e9;
  EXPECT_EQ(head_text(info, places),
            "model       m.onnx, training\n"
            "parameters  6 values trained (26506 numbers, 106.0 kB), 0 frozen\n"
            "strategy    search: 3 by n\n"
            "batch       128 (2 micro-batches of 64), 4 GFLOP a step\n"
            "predicted   12.5 ms a step, 320 GFLOP/s (50 % of the peak, 640 "
            "GFLOP/s)\n"
            "ranks       2 on one host: a (2 cores)\n"
            "memory      1.5 MB to 3.5 MB planned for a rank");
}

TEST(RankMap, SaysWhoIsWhere) {
  const std::vector<RankPlace> places = {
      place("a", {0, 1, 2, 8}, 16), place("a", {0, 1, 2, 8}, 16),
      place("b", {0, 1}, 2), place("b", {0, 1}, 2)};
  EXPECT_EQ(describe_hosts(places),
            "4 on 2 hosts: 0-1 on a (4 cores); 2-3 on b (2 cores)");
  EXPECT_EQ(map_table(places, program({0, 0, 1, 1})),
            "rank  node  host  cores   GPU\n"
            "   0     0  a     0-2, 8  -\n"
            "   1     0  a     0-2, 8  -\n"
            "   2     1  b     0-1     -\n"
            "   3     1  b     0-1     -\n");
  std::vector<RankPlace> many;
  for (const char *host : {"a", "b", "c", "d", "e", "f"})
    many.push_back(place(host, {0}, 1, host));
  EXPECT_EQ(describe_hosts(many), "6 on 6 hosts: 0 on a; 1 on b; 2 on c; 3 on "
                                  "d; and 2 more");
}

using Lines = std::vector<std::string>;

TEST(RankMap, GoodMapsHaveNoProblems) {
  EXPECT_EQ(map_problems({place("a", {0, 1}, 2), place("a", {0, 1}, 2)},
                         program({0, 0})),
            Lines());
  EXPECT_EQ(
      map_problems({place("a", {0}, 8), place("a", {1}, 8)}, program({0, 0})),
      Lines());
  // Two nodes of the plan may be tried on one host.
  EXPECT_EQ(
      map_problems({place("a", {0}, 8), place("a", {1}, 8)}, program({0, 1})),
      Lines());
  EXPECT_EQ(
      map_problems({place("a", {0}, 8, "GPU-0"), place("a", {0}, 8, "GPU-1")},
                   program({0, 0})),
      Lines());
}

TEST(RankMap, WrongMapsAreNamed) {
  EXPECT_EQ(map_problems({place("a", {0, 1}, 2), place("a", {0, 1}, 2),
                          place("a", {0, 1}, 2)},
                         program({0, 0, 0})),
            Lines{"host a: 3 ranks share 2 cores, so that steps take longer "
                  "than predicted; a plan for fewer devices, or more hosts, "
                  "would not"});
  EXPECT_EQ(
      map_problems({place("a", {0}, 8), place("a", {0}, 8)}, program({0, 0})),
      Lines{"host a: 2 ranks may use 1 core of 8; mpirun --bind-to none, "
            "or srun --cpus-per-task, leaves them more"});
  EXPECT_EQ(map_problems(
                {place("a", {0}, 4), place("a", {0}, 4), place("a", {2, 3}, 4)},
                program({0, 0, 0})),
            Lines{"host a: ranks 0-1 share core 0 while others are free; "
                  "mpirun --bind-to none, or --map-by core, divides them"});
  EXPECT_EQ(
      map_problems({place("a", {0}, 4, "GPU-0"), place("a", {0}, 4, "GPU-0")},
                   program({0, 0})),
      Lines{"host a: ranks 0-1 use one GPU (GPU-0); start as many ranks "
            "on a host as it has GPUs, and let every rank see all of "
            "them (CUDA_VISIBLE_DEVICES)"});
  EXPECT_EQ(map_problems({place("a", {0, 1}, 2), place("b", {0, 1}, 2),
                          place("a", {0, 1}, 2), place("b", {0, 1}, 2)},
                         program({0, 0, 1, 1})),
            Lines{"ranks 0-1 are on node 0 of the plan, expected one host, "
                  "found 2 (0 on a, 1 on b); start 2 a host in the order of "
                  "ranks: mpirun --map-by ppr:2:node, srun "
                  "--distribution=block"});
}

} // namespace
