//===- run_test.cpp - whole programs under mpirun -------------------------===//
#include "run_fixture.h"

#include "common/data/npy.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace ffrt;

namespace {

TEST_F(Run, SameTrainingOnAnyNumberOfRanks) {
  const char *files[] = {"loss",
                         "out/logits",
                         "grad/fc_weight",
                         "param/conv.weight",
                         "param/conv.bias",
                         "param/fc_weight",
                         "param/fc_bias"};
  for (int ranks : {1, 2, 4}) {
    const std::string out = folder + "/" + std::to_string(ranks);
    const Result r = mpirun(ranks, ranks, "--steps 6 --seed 5 --dump " + out);
    ASSERT_EQ(r.status, 0) << r.text;
    EXPECT_HAS(r, "step 1/6  loss ");
    EXPECT_HAS(r, "step 6/6  loss ");
    EXPECT_HAS(r, "done 6 steps in ");
    EXPECT_HAS(r, "model       demo.onnx, training\n");
    EXPECT_EQ(count(r.text, "\nstep "), 2) << r.text;
    for (const char *file : files) {
      const std::vector<double> one =
          read(folder + "/1/" + file + std::string(".npy"));
      const std::vector<double> many =
          read(out + "/" + file + std::string(".npy"));
      ASSERT_EQ(one.size(), many.size());
      for (std::size_t i = 0; i < one.size(); ++i)
        ASSERT_NEAR(one[i], many[i], 1e-5 * std::max(1.0, std::abs(one[i])))
            << file << " on " << ranks << " ranks";
    }
    EXPECT_EQ(read(out + "/loss.npy").size(), 6u);
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/1/param/fc_weight_momentum"
                                                ".npy"));
}

TEST_F(Run, StepsAreDumpedAsRunsThatEndWithThem) {
  const Result listed =
      mpirun(2, 2, "--steps 3 --dump " + folder + "/listed --dump-steps 1,3");
  ASSERT_EQ(listed.status, 0) << listed.text;
  EXPECT_FALSE(std::filesystem::exists(folder + "/listed/step2"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/listed/loss.npy"));
  for (const char *steps : {"1", "3"}) {
    const std::string out = folder + "/" + steps;
    const Result r =
        mpirun(2, 2, "--steps " + std::string(steps) + " --dump " + out);
    ASSERT_EQ(r.status, 0) << r.text;
    for (const char *file : {"/loss.npy", "/out/logits.npy",
                             "/grad/fc_weight.npy", "/param/fc_weight.npy"})
      EXPECT_EQ(read(folder + "/listed/step" + steps + file), read(out + file))
          << file << " after step " << steps;
  }
  const Result late =
      mpirun(2, 2, "--steps 3 --dump " + folder + "/late --dump-steps 4");
  EXPECT_NE(late.status, 0);
  EXPECT_HAS(late, "error: rank 0: start: --dump-steps: expected steps up to "
                   "3, the last one, found 4");
}

TEST_F(Run, ASlowRankIsNamedOnce) {
  const Result slow = mpirun(2, 2, "--steps 130 -p 1000", "DEMO_FAULT=slow");
  EXPECT_EQ(slow.status, 0) << slow.text;
  EXPECT_HAS(slow, "warning: rank 1 (host ");
  EXPECT_HAS(slow, ": steps compute for ");
  const Result even = mpirun(2, 2, "--steps 300 -p 1000");
  EXPECT_EQ(even.status, 0) << even.text;
  EXPECT_EQ(count(even.text, "is usual"), 0) << even.text;
}

TEST_F(Run, SrunWithoutMpiIsNamed) {
  const std::string hint = "', found 1 rank; srun starts ranks of one run with "
                           "--mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH)\n";
  const std::string run = "env SLURM_PROCID=0 SLURM_NTASKS=4 ";
  // Without --mpi, and with that of another MPI.
  for (const std::string mpi : {"", "PMI_RANK=0 "}) {
    const Result r = shell(run + mpi + demo(4) + " --steps 1");
    EXPECT_EQ(r.status, 2);
    EXPECT_HAS(r, hint);
  }
  // All of them take themselves for the only one; the first says it.
  const Result second = shell(run + "PMI_RANK=1 " + demo(4) + " --steps 1");
  EXPECT_EQ(second.status, 2);
  EXPECT_EQ(second.text, "");
}

TEST_F(Run, SeedsAndRatesMatter) {
  auto last_loss = [&](const std::string &flags) {
    const Result r =
        mpirun(1, 1, "--steps 3 --dump " + folder + "/out " + flags);
    EXPECT_EQ(r.status, 0) << r.text;
    return read(folder + "/out/loss.npy").back();
  };
  const double first = last_loss("--seed 1");
  EXPECT_EQ(first, last_loss("--seed 1"));
  EXPECT_NE(first, last_loss("--seed 2"));
  EXPECT_NE(first, last_loss("--seed 1 --lr 0.5"));
  EXPECT_NE(first, last_loss("--seed 1 --wd 0.5"));
}

TEST_F(Run, AtMostAsManyThreadsAsAreAllowed) {
  std::vector<double> losses[2];
  const char *const variables[] = {"OMP_NUM_THREADS=1",
                                   "OMP_NUM_THREADS=4 OMP_THREAD_LIMIT=2"};
  for (int i = 0; i < 2; ++i) {
    const Result r =
        mpirun(1, 1, "--steps 3 --dump " + folder + "/out", variables[i]);
    ASSERT_EQ(r.status, 0) << r.text;
    losses[i] = read(folder + "/out/loss.npy");
  }
  for (std::size_t i = 0; i < losses[0].size(); ++i)
    EXPECT_NEAR(losses[0][i], losses[1][i], 1e-5);
}

TEST_F(Run, LearnsAFixedBatch) {
  std::vector<float> x(12 * 64);
  std::vector<int64_t> target(12);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 2654435761u >> 7) % 1000) / 500.0f - 1.0f;
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] = int64_t(i * 7 % 10);
  write_npy(folder + "/x.npy", DType::f32, 4, {12, 1, 8, 8}, x.data());
  write_npy(folder + "/target.npy", DType::i64, 1, {12}, target.data());
  const Result r = mpirun(2, 2,
                          "--steps 60 -p 20 --inputs " + folder + " --dump " +
                              folder + "/out");
  ASSERT_EQ(r.status, 0) << r.text;
  EXPECT_EQ(count(r.text, "loss "), 4) << r.text;
  const std::vector<double> loss = read(folder + "/out/loss.npy");
  EXPECT_LT(loss.back(), 0.5 * loss.front());
}

TEST_F(Run, EpochsOfADataset) {
  std::vector<float> x(30 * 64, 0.5f);
  std::vector<int32_t> target(30, 1);
  write_npy(folder + "/x.npy", DType::f32, 4, {30, 1, 8, 8}, x.data());
  write_npy(folder + "/target.npy", DType::i32, 1, {30}, target.data());
  const Result r = mpirun(1, 1, "-e 3 -p 1 -d " + folder);
  ASSERT_EQ(r.status, 0) << r.text;
  EXPECT_HAS(r, "step 6/6  loss ");
}

TEST_F(Run, EvaluatesADatasetWithSavedWeights) {
  std::vector<float> x(30 * 64);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 2654435761u >> 7) % 1000) / 500.0f - 1.0f;
  std::vector<int32_t> target(30, 1);
  write_npy(folder + "/x.npy", DType::f32, 4, {30, 1, 8, 8}, x.data());
  write_npy(folder + "/target.npy", DType::i32, 1, {30}, target.data());
  const Result r = mpirun(2, 2, "--steps 5 --dump " + folder + "/trained");
  ASSERT_EQ(r.status, 0) << r.text;
  for (int ranks : {1, 4}) {
    const std::string out = folder + "/" + std::to_string(ranks);
    const Result r = mpirun(ranks, ranks,
                            "-d " + folder + " --weights " + folder +
                                "/trained --dump " + out,
                            "DEMO_EVALUATE=1");
    ASSERT_EQ(r.status, 0) << r.text;
    EXPECT_HAS(r, "done 3 steps in ");
    EXPECT_EQ(NpyFile(out + "/out/logits.npy").shape,
              (std::vector<int64_t>{30, 10}));
    EXPECT_EQ(read(out + "/param/fc_weight.npy"),
              read(folder + "/trained/param/fc_weight.npy"));
  }
  const std::vector<double> one = read(folder + "/1/out/logits.npy");
  const std::vector<double> four = read(folder + "/4/out/logits.npy");
  for (std::size_t i = 0; i < one.size(); ++i)
    ASSERT_NEAR(one[i], four[i], 1e-5);
  // Every sample has its own row, those of the last, partial batch as well.
  for (std::size_t row = 1; row < 30; ++row)
    EXPECT_NE(one[row * 10], one[0]) << row;
  const Result missing = mpirun(2, 2, "--weights " + folder);
  EXPECT_EQ(missing.status, 1) << missing.text;
  EXPECT_HAS(missing, "error: rank 0: start: expected param/*.npy of a dump, a "
                      "checkpoint or *.safetensors in '" +
                          folder + "', found none");
  std::filesystem::remove(folder + "/trained/param/conv.weight.npy");
  const Result one_missing = mpirun(2, 2, "--weights " + folder + "/trained");
  EXPECT_HAS(one_missing,
             "error: rank 0: initial values: parameter 'conv.weight': "
             "expected file '" +
                 folder + "/trained/param/conv.weight.npy', found none");
}

TEST_F(Run, ShufflingIsTheSameOnAnyNumberOfRanks) {
  std::vector<float> x(60 * 64);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 2654435761u >> 7) % 1000) / 500.0f - 1.0f;
  std::vector<int32_t> target(60);
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] = int32_t(i * 7 % 10);
  write_npy(folder + "/x.npy", DType::f32, 4, {60, 1, 8, 8}, x.data());
  write_npy(folder + "/target.npy", DType::i32, 1, {60}, target.data());
  auto losses = [&](int ranks, const std::string &flags) {
    const Result r =
        mpirun(ranks, ranks,
               "-e 2 -d " + folder + " --dump " + folder + "/out " + flags);
    EXPECT_EQ(r.status, 0) << r.text;
    return read(folder + "/out/loss.npy");
  };
  const std::vector<double> one = losses(1, ""), four = losses(4, "");
  ASSERT_EQ(one.size(), 10u);
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(one[i], four[i], 1e-5);
  EXPECT_NE(one, losses(1, "--no-shuffle"));
}

TEST_F(Run, StartsItsOwnRanks) {
  const Result r = shell(demo(4) + " --local-ranks 4 --steps 2");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_HAS(r, "step 2/2  loss ");
  const Result nested = mpirun(4, 4, "--local-ranks 4");
  EXPECT_EQ(nested.status, 2) << nested.text;
  EXPECT_HAS(nested, "error: --local-ranks: expected a start without mpirun, "
                     "found one under it");
  const Result none =
      shell("env PATH=/nowhere " + demo(4) + " --local-ranks 4");
  EXPECT_EQ(none.status, 2);
  EXPECT_HAS(none, "error: cannot start mpirun: No such file or directory");
}

TEST_F(Run, InfoAndHelpNeedNoMpirun) {
  const Result info = shell(demo(4) + " --info");
  EXPECT_EQ(info.status, 0);
  EXPECT_HAS(info, "demo.onnx");
  EXPECT_EQ(count(mpirun(2, 4, "--info").text, "demo.onnx"), 1);
  const Result help = shell(demo(4) + " --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_HAS(help, "usage: mpirun -n 4 ");
}

TEST_F(Run, RejectsTheCommandLineOnce) {
  const Result r = mpirun(4, 4, "--steps none");
  EXPECT_EQ(r.status, 2) << r.text;
  EXPECT_HAS(r, "error: --steps: expected a positive integer, found 'none'");
  const Result alone = shell(demo(4) + " --banana");
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.text,
            "error: expected a flag listed by --help, found '--banana'\n");
}

TEST_F(Run, ProgramsThatMeasureStartAsOthers) {
  const char *variable = "DEMO_PROFILE=1";
  EXPECT_EQ(count(mpirun(2, 4, "--help", variable).text, "usage: "), 1);
  const Result flag = mpirun(4, 4, "--repeat=0", variable);
  EXPECT_EQ(flag.status, 2) << flag.text;
  EXPECT_HAS(flag, "error: --repeat: expected a number from 1 to 1000, found "
                   "'0'");
  const Result deadline = mpirun(4, 4, "--deadline soon", variable);
  EXPECT_EQ(deadline.status, 2) << deadline.text;
  EXPECT_HAS(deadline, "error: --deadline: expected a positive number, found "
                       "'soon'");
  const Result three = mpirun(3, 4, "", variable);
  EXPECT_EQ(three.status, 2) << three.text;
  EXPECT_HAS(three,
             "error: expected 'mpirun -n 4 " + demo(4) + "', found 3 ranks");
}

TEST_F(Run, RejectsAWrongNumberOfRanks) {
  const Result one = shell(demo(4));
  EXPECT_EQ(one.status, 2);
  EXPECT_EQ(one.text,
            "error: expected 'mpirun -n 4 " + demo(4) + "', found 1 rank\n");
  const Result three = mpirun(3, 4, "");
  EXPECT_EQ(three.status, 2) << three.text;
  EXPECT_HAS(three,
             "error: expected 'mpirun -n 4 " + demo(4) + "', found 3 ranks");
}

TEST_F(Run, BadDataIsReportedOnce) {
  const Result missing = mpirun(2, 2, "--inputs " + folder);
  EXPECT_EQ(missing.status, 1) << missing.text;
  EXPECT_HAS(missing, "error: rank 0: start: input 'x': expected file '" +
                          folder + "/x.npy', found none");
  const Result unwritable = mpirun(2, 2, "--steps 1 --dump /dev/null/x");
  EXPECT_EQ(unwritable.status, 1) << unwritable.text;
  EXPECT_HAS(unwritable, "error: rank 0: start: cannot make folder "
                         "'/dev/null/x': Not a directory");
  EXPECT_EQ(count(unwritable.text, "step"), 0) << "found out after the work";
  for (const char *what : {"--trace", "--dump"}) {
    // A folder, and what is none, of that name.
    std::filesystem::create_directories(folder + "/d/loss.npy");
    const std::string to =
        what == std::string("--trace") ? "/dev/null" : folder + "/d";
    const Result r = mpirun(2, 2, "--steps 1 " + std::string(what) + " " + to);
    EXPECT_EQ(r.status, 1) << r.text;
    EXPECT_HAS(r, "expected a regular file or a new name, found a ");
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));

  std::vector<float> x(12 * 64);
  std::vector<int32_t> target(12, 1);
  target[11] = 77;
  write_npy(folder + "/x.npy", DType::f32, 4, {12, 1, 8, 8}, x.data());
  write_npy(folder + "/target.npy", DType::i32, 1, {12}, target.data());
  const Result label = mpirun(2, 2, "--inputs " + folder);
  EXPECT_NE(label.status, 0);
  EXPECT_HAS(label, "error: rank 1: run: input 'target': expected classes "
                    "from 0 to 9, found 77 in '" +
                        folder + "/target.npy', sample 11");
}

TEST_F(Run, TracesTheLastSteps) {
  const std::string path = folder + "/trace.json";
  // On one node, and on two with clocks of their own.
  for (const char *variables : {"FFRT_COMM=shm", "FFRT_RANKS_PER_NODE=1"}) {
    const Result r = mpirun(2, 2, "--steps 14 --trace " + path, variables);
    ASSERT_EQ(r.status, 0) << r.text;
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    // Ten steps of five sums on two ranks.
    EXPECT_EQ(count(text, "\"cat\":\"collective\""), 100);
    EXPECT_EQ(count(text, "\"cat\":\"step\""), 20);
    EXPECT_EQ(count(text, "\"name\":\"step 5\""), 2);
    EXPECT_EQ(count(text, "\"name\":\"step 14\""), 2);
    EXPECT_EQ(count(text, "\"task\":\"gra\\\"dients#0@0.4\",\"step\":14}"), 2);
    EXPECT_EQ(count(text, "\"name\":\"rank 1\""), 1);
    EXPECT_EQ(count(text, "\"ts\":-"), 0);
    EXPECT_EQ(count(text, ",\n]"), 0);
  }
  const Result bad = mpirun(2, 2, "--steps 1 --trace " + folder + "/no/t.json");
  EXPECT_EQ(bad.status, 1) << bad.text;
  EXPECT_HAS(bad, "error: rank 0: trace: cannot write '" + folder +
                      "/no/t.json.tmp': No such file or directory");
  EXPECT_EQ(count(bad.text, "step"), 0) << "found out after the work";
  const Result tasks =
      mpirun(2, 2, "--steps 1 --trace " + path, "DEMO_FAULT=tasks");
  EXPECT_EQ(tasks.status, 1) << tasks.text;
  EXPECT_HAS(tasks, "trace: expected 4 tasks in a step, found 5");
}

TEST_F(Run, FaultsEndAllRanks) {
  const Result thrown = mpirun(2, 2, "", "DEMO_FAULT=throw");
  EXPECT_NE(thrown.status, 0);
  EXPECT_HAS(thrown, "error: rank 1: run: demo fault");
  const Result guard = mpirun(2, 2, "", "DEMO_FAULT=guard");
  EXPECT_EQ(guard.status, 1) << guard.text;
  EXPECT_HAS(guard, "error: rank 0: memory check: expected buffers within the "
                    "planned arena, found bytes next to it written");
  const Result hole =
      mpirun(2, 2, "--steps 1 --dump " + folder + "/out", "DEMO_FAULT=hole");
  EXPECT_EQ(hole.status, 1) << hole.text;
  EXPECT_HAS(hole, "error: rank 0: dump: 'grad/fc_weight': expected all of "
                   "2560 elements, found 1280");
}

TEST_F(Run, WaitsForOtherRanksHaveAnEnd) {
  // They wait side by side, each with sessions of its own.
  int runs = 0;
  const auto run = [&](std::string variables) {
    const std::string own = sessions + "/" + std::to_string(runs++);
    std::filesystem::create_directories(own);
    variables += " OMPI_MCA_orte_tmpdir_base=" + own;
    return std::async(std::launch::async, [variables] {
      return mpirun(4, 4, "--deadline 2", variables);
    });
  };
  std::vector<std::future<Result>> exchanges, others;
  for (const char *variables :
       {"FFRT_COMM=shm", "FFRT_COMM=mpi", "FFRT_RANKS_PER_NODE=2"})
    exchanges.push_back(run(std::string("DEMO_FAULT=exchange ") + variables));
  const std::vector<std::pair<const char *, const char *>> faults = {
      {"start", "start"}, {"group", "make group"}, {"end", "end"}};
  for (const auto &[fault, task] : faults)
    others.push_back(run(std::string("FFRT_COMM=mpi DEMO_FAULT=") + fault));
  for (std::future<Result> &exchange : exchanges) {
    const Result r = exchange.get();
    EXPECT_EQ(r.status, 1) << r.text;
    EXPECT_EQ(count(r.text, "error: "), 4) << r.text;
    EXPECT_HAS(r, "error: rank 0: conv <- x: waits for ranks 1, 3 (exchange) "
                  "since ");
    EXPECT_HAS(r, "error: rank 1: gradients: waits for ranks 0, 2, 3 "
                  "(all-reduce) since ");
    EXPECT_HAS(r, "error: rank 2: gradients: waits for ranks 0, 1, 3 "
                  "(all-reduce) since ");
    EXPECT_HAS(r, "error: rank 3: gradients: waits for ranks 0, 1, 2 "
                  "(all-reduce) since ");
    EXPECT_EQ(
        count(r.text, ": expected an end within --deadline 2, found none"), 4)
        << r.text;
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const Result r = others[i].get();
    // Where several ranks end at once, mpirun may wait for a lock of its own
    // for ever (PMIx 4.2, as it closes its server), and is killed then.
    EXPECT_NE(r.status, 0) << r.text;
    EXPECT_EQ(count(r.text, std::string(": ") + faults[i].second +
                                ": waits for the other ranks since "),
              3)
        << r.text;
  }
}

TEST_F(Run, LossesThatAreNotFiniteEndAllRanks) {
  const std::string flags = "--steps 20 --seed 5 --lr 3e38";
  const Result r = mpirun(2, 2, flags + " --dump " + folder + "/out");
  EXPECT_NE(r.status, 0) << r.text;
  EXPECT_HAS(r, "error: rank 0: run: the loss of step ");
  EXPECT_HAS(r, "--any-loss goes on");
  EXPECT_EQ(count(r.text, "done 20 steps"), 0) << r.text;
  EXPECT_FALSE(std::filesystem::exists(folder + "/out/loss.npy"));
  const Result any = mpirun(2, 2, flags + " --any-loss");
  EXPECT_EQ(any.status, 0) << any.text;
  EXPECT_HAS(any, "done 20 steps");
}

TEST_F(Run, DumpsWhatNobodyReadsOfAParameter) {
  auto weights = [&](const std::string &variables) {
    const Result r =
        mpirun(2, 2, "--steps 1 --lr 0 --dump " + folder + "/out", variables);
    EXPECT_EQ(r.status, 0) << r.text;
    return read(folder + "/out/param/fc_weight.npy");
  };
  EXPECT_EQ(weights("DEMO_FAULT=unread"), weights("DEMO_FAULT=none"));
  // What is trained has no such parts.
  const Result trained =
      mpirun(2, 2, "--steps 1 --dump " + folder + "/out", "DEMO_FAULT=unread");
  EXPECT_EQ(trained.status, 1) << trained.text;
  EXPECT_HAS(trained, "error: rank 0: dump: 'param/fc_weight': expected all of "
                      "2560 elements, found 1280");
}

Result comm(const std::string &mode, const std::string &variables = "") {
  return shell("env " + variables + " " + MPIRUN + " --oversubscribe -n 3 " +
               PROGRAMS + "/ffrt_comm_program " + mode);
}

TEST_F(Run, CommOnOneNodeAndOnSeveral) {
  for (const char *variables :
       {"FFRT_COMM=shm", "FFRT_COMM=mpi", "FFRT_RANKS_PER_NODE=2",
        "FFRT_RANKS_PER_NODE=1"})
    EXPECT_HAS(comm("", variables), "all checks hold");
  const Result bad = mpirun(2, 2, "", "FFRT_COMM=smoke");
  EXPECT_EQ(bad.status, 2) << bad.text;
  EXPECT_HAS(bad, "error: FFRT_COMM: expected mpi or shm, found 'smoke'");
}

TEST_F(Run, DeadRanksEndTheOthers) {
  for (const char *mode : {"killed", "gone"}) {
    const Result r = comm(mode);
    EXPECT_GT(r.status, 0) << r.text;
    EXPECT_NE(r.status, 124) << "ended by the clock";
  }
}

TEST_F(Run, CommErrorsNameRankAndTask) {
  const Result abort = comm("abort");
  EXPECT_NE(abort.status, 0);
  EXPECT_HAS(abort, "error: rank 1: layer 7: expected peace, found war");
  const Result blocks = comm("blocks");
  EXPECT_NE(blocks.status, 0);
  EXPECT_GE(count(blocks.text, ": layer 8: expected 6 elements in the whole, "
                               "found 5"),
            1)
      << blocks.text;
  const Result size = comm("size");
  EXPECT_NE(size.status, 0);
  EXPECT_HAS(size, "error: rank 2: layer 10: expected a message of 16 bytes "
                   "with tag 1 from rank 0, found one of 12 bytes with tag 1");
  const Result stranger = comm("stranger");
  EXPECT_NE(stranger.status, 0);
  EXPECT_HAS(stranger, "error: rank 1: layer 9: expected a group of this "
                       "rank, found another");
}

} // namespace
