//===- resume.cpp - going on where an earlier run has ended ---------------===//
#include "common/program/resume.h"

#include "common/checkpoint/checkpoint_folder.h"
#include "common/program/say.h"
#include "common/program/together.h"
#include "ffrt/error.h"

namespace ffrt {

namespace {

constexpr const char *kTask = "resume";

/// What rank 0 has, on all ranks.
std::string shared(Comm &comm, const Group &world, std::string text) {
  int64_t size = comm.rank() == 0 ? int64_t(text.size()) : 0;
  comm.wait(
      comm.all_reduce(kTask, world, flat(&size, DType::i64, 1), ReduceOp::max));
  text.resize(std::size_t(size));
  if (size > 0)
    comm.wait(
        comm.broadcast(kTask, world, 0, flat(text.data(), DType::u8, size)));
  return text;
}

} // namespace

std::unique_ptr<Checkpoint> open_resumed(Comm &comm, const Group &world,
                                         const Arguments &arguments) {
  const std::string &folder = arguments.resume.empty()
                                  ? arguments.checkpoints.folder
                                  : arguments.resume;
  std::string path;
  together(comm, world, kTask, [&] {
    if (comm.rank() != 0)
      return;
    path = newest_checkpoint(folder);
    if (path.empty() && !arguments.resume.empty())
      throw Error("expected a checkpoint in '" + folder + "', found none");
  });
  path = shared(comm, world, path);
  if (comm.rank() == 0 && path.empty())
    say("no checkpoint in " + folder + " yet: the run begins");
  std::unique_ptr<Checkpoint> checkpoint;
  if (!path.empty())
    together(comm, world, kTask,
             [&] { checkpoint = std::make_unique<Checkpoint>(path); });
  return checkpoint;
}

void take_over(Arguments &a, const Record &record) {
  const auto given = [&](const char *flag) { return a.given.count(flag) > 0; };
  const auto expect_same = [&](const char *flag, bool same,
                               const std::string &was) {
    if (given(flag) && !same)
      throw Error(std::string(flag) + ": expected what the checkpoint has, " +
                  was + ", found another");
  };
  expect_same("--seed", a.seed == record.seed, std::to_string(record.seed));
  a.seed = record.seed;
  for (const char *flag : {"--shuffle", "--no-shuffle"})
    expect_same(flag, a.shuffle == record.shuffled,
                record.shuffled ? "--shuffle" : "--no-shuffle");
  if (!a.dataset.empty())
    a.shuffle = record.shuffled;
  if (!given("--learning-rate"))
    a.learning_rate = record.rate.rate;
  if (!given("--lr-schedule"))
    a.rate_form = record.rate.form;
  if (!given("--lr-final"))
    a.last_rate = record.rate.last;
  if (!given("--warmup"))
    a.warmup = record.rate.warmup;
  if (!given("--weight-decay"))
    a.weight_decay = record.weight_decay;
  if (!given("--clip-value"))
    a.clip_value = record.clip_value;
  if (!given("--group"))
    a.groups = record.groups;
  if (!given("--steps") && !given("--epochs"))
    a.steps = record.rate.steps;
}

bool is_done(const Checkpoint &checkpoint, const Arguments &arguments,
             int64_t steps, bool quiet) {
  const int64_t done = checkpoint.record().step;
  const Best &best = checkpoint.record().best;
  const int64_t patience = arguments.validation.patience;
  if (done < steps && patience > 0 && best.step > 0 && best.since >= patience) {
    if (!quiet)
      say("the run has ended after step " + std::to_string(done) +
          ": no validation was better than that after step " +
          std::to_string(best.step) + " (--patience " +
          std::to_string(patience) + ")");
    return true;
  }
  if (done < steps)
    return false;
  const std::string found = "found '" + checkpoint.path() + "' with all " +
                            std::to_string(done) + " done";
  if (done > steps)
    throw Error("expected a checkpoint of at most " + std::to_string(steps) +
                " steps (--steps, --epochs), " + found);
  for (auto [flag, value] : {std::pair("--dump", &arguments.dump),
                             std::pair("--trace", &arguments.trace)})
    if (!value->empty())
      throw Error(std::string(flag) + ": expected a run with steps to do, " +
                  found);
  if (!quiet)
    say("all " + std::to_string(steps) + " steps are done");
  return true;
}

void expect_same_data(const Record &record, int64_t samples) {
  const auto text = [](int64_t n) {
    return n > 0 ? "a data set of " + std::to_string(n) + " samples"
                 : std::string("no data set");
  };
  if (record.samples_per_epoch != samples)
    throw Error("expected " + text(record.samples_per_epoch) +
                ", as the run was begun with, found " + text(samples) +
                "; --weights begins another run");
}

void expect_whole_batches(const Record &record, const ProgramInfo &info) {
  if (record.samples % info.batch != 0)
    throw Error(
        "expected a batch that divides the " + std::to_string(record.samples) +
        " samples that were taken, found " + std::to_string(info.batch));
}

std::string describe_rest(const Checkpoint &checkpoint, const Arguments &a,
                          const RateSchedule &rate) {
  char text[512];
  std::snprintf(text, sizeof text,
                ": step %lld of %lld is done; seed %llu, learning rate %g "
                "(%s, to %g, warm-up %lld), weight decay %g",
                static_cast<long long>(checkpoint.record().step),
                static_cast<long long>(rate.steps),
                static_cast<unsigned long long>(a.seed), rate.rate,
                to_string(rate.form).c_str(), rate.last,
                static_cast<long long>(rate.warmup), a.weight_decay);
  std::string line = "goes on from " + checkpoint.path() + text;
  if (a.clip_value > 0)
    line += ", gradients clipped to " + std::to_string(a.clip_value);
  for (const ParameterGroup &group : a.groups)
    line += "; " + to_string(group);
  return line;
}

} // namespace ffrt
