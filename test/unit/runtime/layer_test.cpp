//===- layer_test.cpp - what a layer of an emitted program is made of -----===//
#include "one_layer.h"

using namespace ffrt;
using namespace ffrt::words;
using namespace ffrt_test;

namespace {

TEST_F(OneLayer, RunsAKernelOnEveryTile) {
  Made &program = make({/*x*/ 2,    0,      1, /*y*/ 2, 2,
                        3,
                        /*add*/ 1,  0,      0, -4,
                        2, //
                        0,          7,      0, 1,       0,
                        1,          own(0), 1, 0,       0,
                        /*dump*/ 1, 1,      0, 2,       /*reshard*/ 1,
                        0,          1,      0},
                       {8});
  arena_memory = {1, 2, 3, 4, 5, 6, 7, 8};
  program.layer.add();
  // Of the second tile the first shard of y, of the first one the second.
  EXPECT_EQ(state_memory, (std::array<float, 4>{11, 12, 13, 14}));
  EXPECT_EQ(arena_memory[8], 15);
  const std::vector<TaskId> tasks = program.tasks();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_STREQ(tasks[0].op, "add");
  EXPECT_EQ(tasks[0].point, 7);
  EXPECT_EQ(tasks[0].instance, -4);
  EXPECT_EQ(tasks[1].point, 8);
  program.layer.dump();
  EXPECT_EQ(probe.said, std::vector<std::string>{"out/y 4"});
  ASSERT_EQ(program.states().size(), 1u);
  EXPECT_STREQ(program.states()[0].name, "w");
  EXPECT_EQ(program.states()[0].tensor.lo[0], 2);
  EXPECT_STREQ(program.inputs().at(0).name, "x");
  EXPECT_EQ(program.loss().data, nullptr);
}

TEST_F(OneLayer, DoesNothingWithoutRows) {
  Made &program = make({0, 0, 0, 0, 1, 0, 1, 0});
  program.layer.add();
  program.layer.dump();
  program.layer.reshard();
  EXPECT_TRUE(program.tasks().empty());
  EXPECT_TRUE(comm.said.empty());
}

TEST_F(OneLayer, CommunicatesAndCopies) {
  Made &program = make(
      {0, 0, 0, 0, /*reshard*/ 1, 0, /*parts*/ 2, 3, 6,
       // two rows of two columns, from the end
       copies, 0, 5, 1, 1, 2, 2, 2, replace, 2, 0, 0, 0, 1, 1, 1, 1, 1, 0, -1,
       0, 0, 1, 0, -1, //
       exchange, 4, 5, 1, 0, 3, 1, 0, 2, 1, 0, 1, collective, 5, 5, 2, 0,
       all_reduce, 1, 2, 2, max, two_shot, 0, none, 1, //
       words::wait, 0, words::wait, 1, collective, 6, 5, 2, 0, all_gather, 0, 0,
       1, sum, library, 0, none, 2, //
       collective, 7, 5, 2, 0, reduce_scatter, 0, 0, 1, sum, library, 0, none,
       0,                                                                    //
       collective, 8, 5, 2, 0, broadcast, 0, 0, 0, sum, library, 1, none, 1, //
       copies, 9, 5, 1, 1, 0, add, 2, 0, 0, 0, 0, 0, 1, 2});
  arena_memory = {1, 2, 3, 4};
  program.layer.reshard.start();
  EXPECT_EQ(arena_memory[8], 4);
  EXPECT_EQ(arena_memory[9], 3);
  EXPECT_EQ(arena_memory[11], 1);
  const std::vector<std::string> first = {
      "exchange next <- add tag 3 to 0 from 0",
      "all_reduce next <- add group 1 of 4 op 1 by 2"};
  EXPECT_EQ(comm.said, first);
  program.layer.reshard.finish();
  EXPECT_EQ(arena_memory[8], 5);
  const std::vector<std::string> rest(comm.said.begin() + 2, comm.said.end());
  EXPECT_EQ(rest,
            (std::vector<std::string>{"wait 0", "wait 1", "2 start together",
                                      "all_gather next <- add 4 -> 4",
                                      "reduce_scatter next <- add 4 -> 4",
                                      "broadcast next <- add root 1"}));
  const std::vector<TaskId> tasks = program.tasks();
  ASSERT_EQ(tasks.size(), 10u);
  EXPECT_STREQ(tasks[3].op, "next") << "of the last turn of the loops";
  EXPECT_EQ(tasks[3].instance, 1);
  EXPECT_EQ(tasks[5].instance, 2);
}

TEST_F(OneLayer, RunsSchedules) {
  tables.schedules = {"all_reduce direct 2 1 1 0 1 0 0 0 1"};
  Made &program = make({0,
                        0,
                        0,
                        0,
                        /*reshard*/ 1,
                        0,
                        /*parts*/ 1,
                        2, //
                        collective,
                        0,
                        5,
                        2,
                        0,
                        all_reduce,
                        0,
                        2,
                        2,
                        sum,
                        words::schedule,
                        0,
                        0,
                        1,
                        words::wait,
                        0});
  arena_memory = {1, 2, 3, 4};
  program.layer.reshard.start();
  // What it sends is reduced elsewhere before it comes back.
  EXPECT_EQ(comm.said,
            (std::vector<std::string>{
                "exchange next <- add tag 32767 to 0", "wait 0",
                "exchange next <- add tag 32767 from 0", "wait 2", "wait -1"}));
}

/// Of a pipeline, each in a pass of its own.
TEST_F(OneLayer, TakesTurns) {
  // Of the second turn, the result adds to what is there.
  const std::vector<int64_t> shards = {1, 0, 1, 3},
                             add = {2, 0, 0, -1, 1, 0, 7, 0, 0,
                                    0, 1, 1, 8,  0, 0, 1, 0},
                             dump = {2, 0, 1, 0, 3},
                             reshard = {1, 0, 2, 0, 1,       copies, 2,
                                        5, 1, 1, 0, replace, 2,      0,
                                        0, 0, 0, 0, 1,       2};
  std::vector<int64_t> rows;
  for (const auto *list : {&shards, &add, &dump, &reshard})
    rows.insert(rows.end(), list->begin(), list->end());
  Made &program = make(rows, {}, {0, 1, 0, 1});
  arena_memory = {1, 2, 3, 4};
  for (int step = 0; step < 2; ++step) {
    program.begin(StepPart::micro_batch);
    program.run<Made>({&Made::adds, &Made::moves});
    program.end(StepPart::micro_batch);
    program.begin(StepPart::update);
    program.end(StepPart::update);
  }
  EXPECT_EQ(state_memory, (std::array<float, 4>{11, 12, 13, 14}));
  EXPECT_EQ(probe.said, (std::vector<std::string>{"out/y 4", "out/y 4"}));
  EXPECT_EQ(AddNumber::accumulating, 2) << "in the second turn of each step";
}

TEST_F(OneLayer, SaysWhichPassItDoesNotHave) {
  Made &program = make({0, 0, 0, 0, 1, 0, 1, 0}, {}, {0, 2});
  try {
    program.run<Made>({&Made::adds, &Made::moves});
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_EQ(error.what(),
              std::string("tables: expected the number of a pass below 2, "
                          "found 2; this is a fault of ffc, or the program's "
                          "files are of different ones"));
  }
}

TEST_F(OneLayer, AddsUpMicroBatches) {
  context.micro_batches = 2;
  Made &program = make({0, 0, 0,    0, 1, 0, 1, 1, copies, 0, 5, -3,
                        1, 0, mean, 3, 0, 0, 0, 0, 0,      2, 2});
  arena_memory = {2, 4, 6, 8};
  state_memory = {9, 9, 9, 9};
  for (context.micro_batch = 0; context.micro_batch < 2;
       ++context.micro_batch) {
    program.begin(StepPart::micro_batch);
    program.layer.reshard();
    program.end(StepPart::micro_batch);
  }
  EXPECT_EQ(state_memory, (std::array<float, 4>{2, 4, 6, 8}));
}

/// A text that was changed by hand.
TEST_F(OneLayer, TasksAreStartedInTheirOrder) {
  Made &program = make({1,
                        0,
                        1,
                        1,
                        /*add*/ 1,
                        0,
                        0,
                        0,
                        1,
                        0,
                        7,
                        0,
                        0,
                        0,
                        0,
                        /*reshard*/ 1,
                        1,
                        1,
                        1, //
                        copies,
                        1,
                        5,
                        1,
                        1,
                        0,
                        add,
                        2,
                        0,
                        0,
                        0,
                        0,
                        0,
                        1,
                        2});
  const std::string advice =
      ": the program does not do what was planned (ffc verify)";
  auto failure = [&](auto &&step) -> std::string {
    try {
      program.begin(StepPart::micro_batch);
      step();
      program.end(StepPart::micro_batch);
      program.begin(StepPart::update);
      program.end(StepPart::update);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  AddLayer &layer = program.layer;
  for (int step = 0; step < 2; ++step)
    EXPECT_EQ(failure([&] { layer.add(), layer.reshard(); }), "");
  EXPECT_EQ(failure([&] { layer.reshard(); }),
            "step: expected task add#0@7.0, found task next#1@5.1" + advice);
  EXPECT_EQ(failure([&] { layer.add(), layer.add(); }),
            "step: expected task next#1@5.1, found task add#0@7.0" + advice);
  EXPECT_EQ(failure([&] { layer.add(); }),
            "step: expected task next#1@5.1, found the end of the step" +
                advice);
  EXPECT_EQ(failure([&] { layer.add(), layer.reshard(), layer.reshard(); }),
            "step: expected the end of the step, found task next#1@5.1" +
                advice);
}

TEST_F(OneLayer, SaysWhatIsWrongWithTables) {
  const std::string fault = "; this is a fault of ffc, or the program's files "
                            "are of different ones";
  EXPECT_EQ(fail({0, 0}),
            "tables: expected a number, found the end of the rows" + fault);
  EXPECT_EQ(fail({5}), "tables: expected 5 numbers, found 0" + fault);
  EXPECT_EQ(fail({-4}),
            "tables: expected a number of at least 0, found -4" + fault);
  EXPECT_EQ(fail({0, 0, 0, 0, 1, 0, 1, 0, 99}),
            "tables: expected layer 0 to use all of its rows, found more of "
            "them" +
                fault);
  EXPECT_EQ(fail({1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 3}),
            "tables: expected a shard below 1, found 3" + fault);
  EXPECT_EQ(fail({1, 17}),
            "tables: expected a number below 4, found 17" + fault);
  const auto failBySchedule = [&](int64_t number) {
    return fail(
        {0,      0, 0,           0,          1, 0, 1, 2,   collective,      4,
         5,      2, 0,           all_reduce, 0, 2, 2, sum, words::schedule, 0,
         number, 1, words::wait, 0});
  };
  EXPECT_EQ(failBySchedule(0),
            "tables: expected a schedule below 0, found 0" + fault);
  tables.schedules = {"all_reduce direct 3 1 2 0 1 0 0 2 0 0 0 1 0 0 2"};
  EXPECT_EQ(failBySchedule(0),
            "tables: expected a schedule of 2 members, found one of 3" + fault);
  tables.schedules = {"scan direct 2 1 1 0 1 0"};
  EXPECT_EQ(failBySchedule(0),
            "tables: expected a schedule of a collective, found 'scan'" +
                fault);
  tables.schedules = {"all_reduce direct 2 1 1 0 1 2"};
  EXPECT_EQ(failBySchedule(0),
            "tables: expected the numbers of a schedule, found others in "
            "'direct'" +
                fault);
}

} // namespace
