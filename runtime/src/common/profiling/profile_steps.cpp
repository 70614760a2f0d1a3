//===- profile_steps.cpp - times of kernels within steps ------------------===//
#include "common/profiling/profile_steps.h"

#include "common/data/source.h"
#include "common/program/steps.h"
#include "common/program/together.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

/// Time of the steps that count in a round, and their least and largest number.
/// Two before them do not: the first one meets all memory for the first time,
/// the second finds in the caches what that left there.
constexpr double kBlockSeconds = 0.05;
constexpr int kLeastSteps = 2, kMostSteps = 20;
constexpr std::size_t kProbeSteps = 5;

double seconds(int64_t start, int64_t end) {
  return static_cast<double>(end - start) * 1e-9;
}

/// Of the kernels and copies of a step, by the trace's clock.
std::vector<double> site_seconds(const Trace::Step &step) {
  std::vector<double> sites;
  for (const Trace::Record &record : step.records)
    if (record.kind == Trace::Kind::kernel || record.kind == Trace::Kind::copy)
      sites.push_back(seconds(record.start, record.end));
  return sites;
}

/// What the kernels and copies of a rank read and write.
std::vector<double> bytes_of(const ProfileInfo &info,
                             const std::vector<int> &entries) {
  std::vector<double> bytes;
  for (int entry : entries)
    bytes.push_back(info.entries[std::size_t(entry)].bytes);
  return bytes;
}

/// Nothing is dumped.
class NoProbe final : public Probe {
public:
  void offer(const char *, const Tensor &) override {}
};

} // namespace

std::vector<std::size_t> probe_steps(std::size_t steps) {
  const std::size_t count = std::min(steps, kProbeSteps);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back((2 * i + 1) * steps / (2 * count));
  return chosen;
}

void StepProfiler::measure() {
  for (std::size_t i = 0; i < chosen.size(); ++i)
    measure_block(info.steps[chosen[i]], measured[i]);
}

void StepProfiler::measure_block(const ProfiledStep &step, Measured &result) {
  Trace trace(take_turns() ? Trace::processor_time : Trace::now);
  trace.weigh(bytes_of(info, step.entries[std::size_t(comm.rank())]));
  NoProbe ignored;
  const auto source = make_synthetic(step.info, context.seed);
  context.step = 0;
  context.micro_batches = step.info.micro_batches;
  context.tf32 = step.info.tf32;
  Instance instance(context, comm, world, ignored, step.info, step.make,
                    &trace);
  instance.initialise();
  Feeder feeder(*source, instance.inputs(), instance.input_numbers(), 0,
                int64_t(kMostSteps + 2) * context.micro_batches);
  Steps steps(instance, context, feeder, &trace, nullptr, instance.replays());
  auto run = [&]() -> Sample {
    int64_t start = 0;
    steps.run([&](int micro_batch) {
      if (micro_batch > 0)
        return;
      finish_target(); // the inputs are there
      comm.barrier();
      start = Trace::now();
    });
    const double total = seconds(start, Trace::now());
    ++context.step;
    return {total, site_seconds(*trace.steps().back())};
  };
  run();
  double seconds = run().total;
  if (result.count == 0) {
    comm.wait(comm.all_reduce("profile", world, flat(&seconds, DType::f64, 1),
                              ReduceOp::max));
    result.count = int(std::clamp(std::ceil(kBlockSeconds / seconds),
                                  double(kLeastSteps), double(kMostSteps)));
  }
  for (int i = 0; i < result.count; ++i)
    result.samples.push_back(run());
  instance.check_guards();
}

double StepProfiler::stretch() const {
  return take_turns() ? double(comm.size()) / cores : 1.0;
}

std::vector<double> StepProfiler::gather(const std::vector<double> &mine) {
  std::vector<double> all(mine.size() * std::size_t(comm.size())), part = mine;
  if (!mine.empty())
    comm.wait(comm.all_gather(
        "profile", world, flat(part.data(), DType::f64, int64_t(part.size())),
        flat(all.data(), DType::f64, int64_t(all.size()))));
  return all;
}

StepProfiler::Result StepProfiler::result() {
  Result result;
  // Repetitions are told apart from places: kernels of one entry are called in
  // several, after different neighbours, which makes them faster or slower. A
  // plan adds up all of them, so the mean over places of the medians over
  // repetitions is what predicts it.
  std::vector<std::vector<Duration>> places(info.entries.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Measured &step = measured[i];
    const ProfiledStep &program = info.steps[chosen[i]];
    std::size_t most = 0;
    for (const std::vector<int> &entries : program.entries)
      most = std::max(most, entries.size());
    // By sample: the step, then its sites, of which other ranks may have more.
    std::vector<double> mine;
    for (const Sample &sample : step.samples) {
      mine.push_back(sample.total);
      for (std::size_t site = 0; site < most; ++site)
        mine.push_back(site < sample.sites.size() ? sample.sites[site] : 0.0);
    }
    const std::vector<double> all = gather(mine);
    std::vector<double> totals;
    for (std::size_t rank = 0; rank < program.entries.size(); ++rank) {
      const std::vector<int> &entries = program.entries[rank];
      for (std::size_t column = 0; column <= entries.size(); ++column) {
        std::vector<double> values;
        for (std::size_t sample = 0; sample < step.samples.size(); ++sample)
          values.push_back(
              all[rank * mine.size() + sample * (most + 1) + column]);
        if (column == 0)
          totals.insert(totals.end(), values.begin(), values.end());
        else
          places[std::size_t(entries[column - 1])].push_back(
              duration_of(values));
      }
    }
    result.step_times.push_back(duration_of(totals));
  }
  for (const std::vector<Duration> &list : places) {
    const double weight = stretch() / double(list.size());
    Duration &mean = result.entries.emplace_back();
    for (const Duration &place : list) {
      mean.median += place.median * weight;
      mean.spread += place.spread * weight;
      mean.samples += place.samples;
    }
  }
  return result;
}

} // namespace ffrt
