//===- trace_test.cpp - when the tasks of a step ran ----------------------===//
#include "ffrt/error.h"
#include "ffrt/kernel.h"
#include "ffrt/trace.h"

#include "common/profiling/json.h"
#include "common/profiling/trace_file.h"
#include "common/profiling/traced_comm.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

using namespace ffrt;

namespace {

/// Does nothing; gives the events that it is told.
class SilentComm final : public Comm {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  bool exchanges_in_order() const override { return false; }
  Group make_group(const std::vector<int> &members) override {
    return {0, members};
  }
  Event exchange(const char *, int, const std::vector<Message> &,
                 const std::vector<Message> &) override {
    return {next++};
  }
  Event all_reduce(const char *, const Group &, Tensor, ReduceOp,
                   CollectiveAlgorithm) override {
    return {};
  }
  Event all_gather(const char *, const Group &, Tensor, Tensor) override {
    return {};
  }
  Event reduce_scatter(const char *, const Group &, Tensor, Tensor,
                       ReduceOp) override {
    return {};
  }
  Event broadcast(const char *, const Group &, int, Tensor) override {
    return {};
  }
  void wait(Event) override {}
  void barrier() override {}
  void end_ranks(const char *, const char *) override {}

private:
  int next = 3;
};

struct CountingKernel {
  void operator()(Tensors, Tensors) { ++calls; }
  int calls = 0;
};

/// A program of one kernel.
struct OneKernel {
  explicit OneKernel(Trace *trace) : trace(trace) {}
  void step() {
    const TracedTask task(trace, Trace::Kind::kernel);
    kernel({}, {});
  }
  Trace *trace;
  CountingKernel kernel;
};

TEST(Trace, KeepsTheLastStepsWithoutTheFirst) {
  Trace trace;
  trace.prepare({{"a", 0, 0, 0}});
  OneKernel program(&trace);
  auto run = [&](int64_t step) {
    trace.begin_step();
    trace.begin_micro_batch();
    program.step();
    trace.end_step();
    trace.keep(step);
  };
  run(0);
  ASSERT_EQ(trace.steps().size(), 1u) << "the only one";
  for (int64_t step = 1; step < 5; ++step)
    run(step);
  ASSERT_EQ(trace.steps().size(), 4u);
  EXPECT_EQ(trace.steps().front()->number, 1);
  for (int64_t step = 5; step < 25; ++step)
    run(step);
  const auto steps = trace.steps();
  ASSERT_EQ(steps.size(), std::size_t(Trace::kSteps));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i]->number, int64_t(25 - steps.size() + i));
    ASSERT_EQ(steps[i]->records.size(), 1u);
    const Trace::Record &record = steps[i]->records[0];
    EXPECT_LE(steps[i]->start, record.start);
    EXPECT_LE(record.start, record.end);
    EXPECT_LE(record.end, steps[i]->end);
  }
}

TEST(Trace, InProcessorTimeSleepCountsForNothing) {
  for (const Trace::Clock clock : {Trace::now, Trace::processor_time}) {
    Trace trace(clock);
    trace.prepare({{"a", 0, 0, 0}});
    trace.begin_step();
    trace.begin_micro_batch();
    const std::size_t task = trace.start(Trace::Kind::kernel);
    usleep(30000);
    trace.stop(task);
    trace.end_step();
    trace.keep(0);
    const Trace::Record &record = trace.steps()[0]->records[0];
    EXPECT_EQ(record.end - record.start >= 30000000, clock == Trace::now);
    EXPECT_GE(record.end, record.start);
  }
}

TEST(Trace, KeepsTheLastPass) {
  Trace trace;
  trace.prepare({{"a", 0, 0, 0}});
  OneKernel program(&trace);
  trace.begin_step();
  for (int microBatch = 0; microBatch < 3; ++microBatch) {
    trace.begin_micro_batch();
    program.step();
  }
  trace.end_step();
  trace.keep(0);
  const Trace::Step &step = *trace.steps()[0];
  ASSERT_EQ(step.records.size(), 1u);
  EXPECT_LE(step.start, step.records[0].start);
  EXPECT_LE(step.records[0].end, step.end);
}

TEST(Trace, WithoutItKernelsRunAllTheSame) {
  OneKernel program(nullptr);
  program.step();
  EXPECT_EQ(program.kernel.calls, 1);
}

TEST(Trace, CommunicationEndsWhenItWasWaitedFor) {
  Trace trace;
  trace.prepare({{"a", 0, 0, 1}, {"b", 0, 0, 1}, {"c", 0, 0, 0}});
  SilentComm silent;
  TracedComm comm(silent, trace);
  OneKernel program(&trace);
  trace.begin_step();
  trace.begin_micro_batch();
  const Event exchange = comm.exchange("a", 1, {}, {});
  comm.wait(comm.all_reduce("b", {}, {}, ReduceOp::sum,
                            CollectiveAlgorithm::library));
  program.step();
  comm.wait(exchange);
  trace.end_step();
  trace.keep(0);
  const auto &records = trace.steps()[0]->records;
  // What is complete at once has no wait.
  ASSERT_EQ(records.size(), 4u);
  using Kind = Trace::Kind;
  EXPECT_EQ(records[0].kind, Kind::exchange);
  EXPECT_EQ(records[1].kind, Kind::collective);
  EXPECT_EQ(records[2].kind, Kind::kernel);
  EXPECT_EQ(records[3].kind, Kind::wait);
  EXPECT_EQ(records[3].task, 0);
  EXPECT_GE(records[0].end, records[3].start);
  EXPECT_LE(records[1].end, records[2].start);
}

/// Start and end of the events of a category, in microseconds.
std::vector<std::pair<double, double>> spans(const std::string &text,
                                             const std::string &category) {
  std::vector<std::pair<double, double>> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    double start = 0, length = 0;
    const std::size_t at = line.find("\"ts\":");
    if (line.find("\"cat\":\"" + category + "\"") == std::string::npos ||
        std::sscanf(line.c_str() + at, "\"ts\":%lf,\"dur\":%lf", &start,
                    &length) != 2)
      continue;
    result.push_back({start, start + length});
  }
  return result;
}

TEST(Trace, EventsOfAThreadDoNotOverlap) {
  Trace trace;
  trace.prepare({{"a", 0, 0, 1}, {"b", 0, 7, 1}});
  SilentComm silent;
  TracedComm comm(silent, trace);
  trace.begin_step();
  trace.begin_micro_batch();
  const Event a = comm.exchange("a", 1, {}, {});
  const Event b = comm.exchange("b", 2, {}, {});
  comm.wait(a);
  comm.wait(b);
  trace.end_step();
  trace.keep(3);
  const auto &step = *trace.steps()[0];
  ASSERT_GE(step.records[0].end, step.records[1].start);
  const std::string text = trace_events(trace, 5, 0, step.start - 1500);
  EXPECT_NE(text.find("{\"ph\":\"X\",\"pid\":5,\"tid\":0,\"ts\":1.500,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"args\":{\"task\":\"b#0@7.1\",\"step\":4}},\n"),
            std::string::npos)
      << text;
  const auto exchanges = spans(text, "exchange");
  ASSERT_EQ(exchanges.size(), 2u) << text;
  EXPECT_NEAR(exchanges[1].first, exchanges[0].second, 1e-3);
  EXPECT_GE(exchanges[1].second, exchanges[1].first);
  EXPECT_EQ(spans(text, "wait").size(), 2u);
}

TEST(Json, TextsAreQuoted) {
  EXPECT_EQ(quoted("a \"b\" \\ \n\xc3\xa9"), R"("a \"b\" \\ \u000a)"
                                             "\xc3\xa9\"");
}

TEST(Trace, ExpectsTheTasksThatWereListed) {
  Trace trace;
  trace.prepare({{"a", 0, 0, 0}, {"b", 0, 0, 0}});
  OneKernel program(&trace);
  trace.begin_step();
  trace.begin_micro_batch();
  program.step();
  try {
    trace.end_step();
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "trace: expected 2 tasks in a step, found 1");
  }
}

} // namespace
