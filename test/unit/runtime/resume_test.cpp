//===- resume_test.cpp - runs that are saved, end and go on ---------------===//
#include "run_fixture.h"

#include "common/data/npy.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace ffrt;

namespace {

TEST_F(Run, GoesOnFromACheckpoint) {
  const auto run = [&](const std::string &flags) {
    return mpirun(2, 2, "-p 1 --lr 0.1 --seed 3 " + flags);
  };
  const auto bytes = [&](const std::string &file) {
    std::ifstream stream(folder + "/" + file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string at = folder + "/whole", in = folder + "/parts";
  const Result whole =
      run("--steps 6 --lr-schedule linear --group '*bias: lr=0.5x' "
          "--clip-value 0.01 --dump " +
          folder + "/whole-dump --checkpoint " + at +
          " --checkpoint-every 2 --keep 2");
  ASSERT_EQ(whole.status, 0) << whole.text;
  EXPECT_HAS(whole, "checkpoints in " + at +
                        ": every 2 steps, after the last "
                        "step, and when a signal asks; the newest 2 stay");
  EXPECT_FALSE(std::filesystem::exists(at + "/step-00000002"));
  EXPECT_TRUE(std::filesystem::exists(at + "/step-00000004"));
  // From the same point, said and unsaid, and all that was said before holds.
  std::filesystem::create_directories(in);
  std::filesystem::copy(at + "/step-00000004", in + "/step-00000004");
  const Result rest = mpirun(2, 2,
                             "-p 1 --checkpoint " + in + " --resume --dump " +
                                 folder + "/parts-dump");
  ASSERT_EQ(rest.status, 0) << rest.text;
  EXPECT_HAS(rest, "goes on from " + in + "/step-00000004");
  EXPECT_HAS(rest, "weight decay 0, gradients clipped to 0.010000; "
                   "*bias: lr=0.5x");
  EXPECT_HAS(rest, "step 5/6");
  EXPECT_HAS(rest, "done 2 steps in ");
  for (const char *file : {"model.safetensors", "optimizer.safetensors"})
    EXPECT_EQ(bytes("parts/step-00000006/" + std::string(file)),
              bytes("whole/step-00000006/" + std::string(file)));
  for (const char *file :
       {"loss.npy", "grad/fc_weight.npy", "param/fc_weight.npy"})
    EXPECT_EQ(bytes("parts-dump/" + std::string(file)),
              bytes("whole-dump/" + std::string(file)));
  // Another number of ranks: to rounding.
  const Result other = mpirun(4, 4,
                              "--resume " + at + "/step-00000004 --dump " +
                                  folder + "/other-dump");
  ASSERT_EQ(other.status, 0) << other.text;
  const std::vector<double> a = read(folder + "/whole-dump/loss.npy"),
                            b = read(folder + "/other-dump/loss.npy");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-5);
  // Parameters alone begin a run of their own.
  const Result begun = mpirun(1, 1, "--steps 1 --weights " + at);
  EXPECT_EQ(begun.status, 0) << begun.text;

  const Result done = run("--checkpoint " + at + " --resume");
  EXPECT_EQ(done.status, 0) << done.text;
  EXPECT_HAS(done, "all 6 steps are done");
  const auto error = [&](const std::string &flags, const std::string &text) {
    const Result r = mpirun(2, 2, flags);
    EXPECT_EQ(r.status, 1) << r.text;
    EXPECT_HAS(r, "error: rank 0: " + text);
  };
  const std::string found =
      ", found '" + at + "/step-00000006' with all 6 done";
  error("--dump x --resume " + at,
        "start: --dump: expected a run with steps to do" + found);
  error("--steps 5 --resume " + at,
        "start: expected a checkpoint of at most 5 steps (--steps, --epochs)" +
            found);
  error("--resume " + folder,
        "resume: expected a checkpoint in '" + folder + "', found none");
  std::vector<float> x(24 * 64);
  std::vector<int32_t> target(24, 1);
  std::filesystem::create_directories(folder + "/data");
  write_npy(folder + "/data/x.npy", DType::f32, 4, {24, 1, 8, 8}, x.data());
  write_npy(folder + "/data/target.npy", DType::i32, 1, {24}, target.data());
  error("--steps 9 --resume " + at + " --dataset " + folder + "/data",
        "start: expected no data set, as the run was begun with, found a data "
        "set of 24 samples; --weights begins another run");
  error("--lr 0 --steps 7 --group 'fc*: lr=0.1' --resume " + at,
        "start: --group: expected a factor of the rate, as lr=1x, with --lr 0, "
        "found 'fc*: lr=0.1'");
  error("--seed 4 --resume " + at, "start: --seed: expected what the "
                                   "checkpoint has, 3, found another");
}

TEST_F(Run, SignalsSaveAndEnd) {
  const std::string at = folder + "/saved";
  const auto signalled = [&](const std::string &signal, const char *flags) {
    // A rank is asked as soon as the run has begun: not by the run before.
    std::ofstream(folder + "/log");
    std::ofstream(folder + "/script")
        << demo(2) << " --local-ranks 2 --steps 100000000 -p 1000 --checkpoint "
        << at << " " << flags << " > " << folder << "/log 2>&1 &\n"
        << "until grep -q '^step ' " << folder << "/log; do sleep 0.01; done\n"
        << "pkill -" << signal << " -n -f 'ffrt_demo_2.*" << at << "'\n"
        << "wait $!\nstatus=$?\ncat " << folder << "/log\nexit $status\n";
    return shell("sh " + folder + "/script");
  };
  const Result ended = signalled("TERM", "");
  EXPECT_EQ(ended.status, 128 + 15) << ended.text;
  EXPECT_HAS(ended, "ended by signal 15 (Terminated) after step ");
  EXPECT_HAS(ended, " of 100000000, which is saved; --resume goes on");
  const Result again = signalled("INT", "--resume");
  EXPECT_EQ(again.status, 128 + 2) << again.text;
  EXPECT_HAS(again, "goes on from " + at + "/step-");
}

TEST_F(Run, LaunchersPassSignalsOn) {
  // To the process that has started the ranks, by mpirun and by itself; and to
  // mpirun.
  const std::string local = std::string(PROGRAMS) + "/ffrt_demo_local_4";
  struct Case {
    std::string start, signal;
    int status;
  };
  int number = 0;
  for (const Case &c : std::vector<Case>{
           {demo(2) + " --local-ranks 2", "TERM", 128 + 15},
           {demo(2) + " --local-ranks 2", "INT", 128 + 2},
           {local + " --local-ranks 4", "TERM", 128 + 15},
           {std::string(MPIRUN) + " --oversubscribe -n 2 " + demo(2), "USR2",
            128 + 12}}) {
    const std::string at = folder + "/" + std::to_string(number++);
    std::ofstream(folder + "/script")
        << c.start << " --steps 100000000 -p 1000 --checkpoint " << at << " > "
        << at << ".log 2>&1 &\nuntil grep -q '^step ' " << at
        << ".log; do sleep 0.01; done\nkill -" << c.signal << " $!\nwait $!\n"
        << "status=$?\ncat " << at << ".log\nexit $status\n";
    const Result r = shell("timeout 60 sh " + folder + "/script");
    EXPECT_EQ(r.status, c.status) << c.start << "\n" << r.text;
    EXPECT_HAS(r, "which is saved; --resume goes on");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(at),
                            std::filesystem::directory_iterator()),
              1);
  }
}

TEST_F(Run, StartsAgainAfterARankHasDied) {
  const std::string at = folder + "/saved";
  // A rank is killed twice, each time some steps on: when there is a newer
  // checkpoint, not a half-written one, which the kill before has left.
  std::ofstream(folder + "/script")
      << "newest() { ls " << at
      << " 2>/dev/null | grep 'step-[0-9]*$' | tail -1; }\n"
      << demo(2) << " --local-ranks 2 --restarts 2 --steps 20000 -p 100 "
      << "--checkpoint " << at << " --checkpoint-every 300 > " << folder
      << "/log 2>&1 &\nsupervisor=$!\nfor round in 1 2; do\n"
      << "  before=$(newest)\n"
      << "  while [ \"$(newest)\" = \"$before\" ]; do sleep 0.01; done\n"
      << "  pkill -KILL -n -f '^" << demo(2) << " --steps.*" << at << "'\n"
      << "  until [ $(grep -c '^ended with' " << folder << "/log) = $round ]; "
      << "do sleep 0.01; done\n"
      << "done\nwait $supervisor\nstatus=$?\ncat " << folder
      << "/log\nexit $status\n";
  const Result r = shell("timeout 100 sh " + folder + "/script");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_HAS(r, ": restart 1 of 2, from the newest checkpoint");
  EXPECT_HAS(r, ": restart 2 of 2, from the newest checkpoint");
  EXPECT_EQ(count(r.text, "goes on from " + at), 2) << r.text;
  EXPECT_HAS(r, "step 20000/20000");
  const Result flags = shell(demo(2) + " --restarts 2 --checkpoint " + at);
  EXPECT_EQ(flags.status, 2);
  EXPECT_HAS(flags, "--restarts: expected --local-ranks with it, found none");
}

TEST_F(Run, LogsLinesOfJson) {
  const std::string log = folder + "/log.jsonl", at = folder + "/saved";
  const Result first =
      mpirun(2, 2,
             "--steps 4 -p 2 --lr 0.5 --lr-schedule linear --log " + log +
                 " --tensorboard " + folder + "/board --checkpoint " + at);
  EXPECT_EQ(first.status, 0) << first.text;
  // A version, and steps 1, 2 and 4.
  const std::string events =
      (*std::filesystem::directory_iterator(folder + "/board")).path();
  EXPECT_NE(events.find("/events.out.tfevents."), std::string::npos);
  std::ifstream stream(events, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(count(bytes, "brain.Event:2"), 1);
  EXPECT_EQ(count(bytes, "learning_rate"), 3);
  const Result second = mpirun(
      2, 2, "--steps 5 -p 1 --log " + log + " --resume --checkpoint " + at);
  EXPECT_EQ(second.status, 0) << second.text;
  std::ifstream file(log);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 5u + 3u);
  EXPECT_EQ(lines[0]["run"]["ranks"], 2);
  EXPECT_EQ(lines[0]["run"]["steps"], 4);
  EXPECT_EQ(lines[1]["step"], 1);
  EXPECT_EQ(lines[2]["step"], 2);
  EXPECT_EQ(lines[2]["learning_rate"], 0.375);
  EXPECT_GT(double(lines[3]["loss"]), 0);
  EXPECT_EQ(lines[4]["end"]["steps"], 4);
  EXPECT_EQ(lines[5]["run"]["first_step"], 5);
  EXPECT_EQ(lines[6]["step"], 5);
  const Result bad = mpirun(2, 2, "--steps 1 --log " + folder);
  EXPECT_EQ(bad.status, 1);
  EXPECT_HAS(bad, "error: rank 0: start: cannot write '" + folder +
                      "': expected a regular file or a new name, found a "
                      "folder");
}

TEST_F(Run, SavesByTheClock) {
  const Result r = mpirun(2, 2,
                          "--steps 3000 -p 3000 --checkpoint " + folder +
                              "/saved --checkpoint-every 0.2s");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_HAS(r, "every 0.2 s");
}

TEST_F(Run, SavesWhatNobodyReadsOfAParameter) {
  const auto weights = [&](const std::string &name, const char *variables) {
    const std::string at = folder + "/" + name;
    const Result saved =
        mpirun(2, 2, "--steps 1 --lr 0 --checkpoint " + at, variables);
    EXPECT_EQ(saved.status, 0) << saved.text;
    const Result read_back =
        mpirun(1, 1, "--steps 1 --lr 0 --weights " + at + " --dump " + at);
    EXPECT_EQ(read_back.status, 0) << read_back.text;
    return read(at + "/param/fc_weight.npy");
  };
  EXPECT_EQ(weights("unread", "DEMO_FAULT=unread"),
            weights("all", "DEMO_FAULT=none"));
}

} // namespace
