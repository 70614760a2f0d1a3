//===- local_ranks_test.cpp - programs of several ranks without MPI -------===//
#include "shell.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace ffrt;

namespace {

std::string demo(int ranks) {
  return std::string(PROGRAMS) + "/ffrt_demo_local_" + std::to_string(ranks);
}

Result comm(const std::string &mode) {
  return shell(std::string(PROGRAMS) + "/ffrt_comm_local " + mode);
}

class LocalRanks : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "ffrt_local_" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

TEST_F(LocalRanks, SameTrainingOnOneAndOnFour) {
  for (int ranks : {1, 4}) {
    const Result r = shell(
        demo(ranks) + " --local-ranks " + std::to_string(ranks) +
        " --steps 6 --seed 5 --dump " + folder + "/" + std::to_string(ranks));
    ASSERT_EQ(r.status, 0) << r.text;
    EXPECT_HAS(r, "step 6/6  loss ");
  }
  for (const char *file : {"loss", "grad/fc_weight", "param/conv.weight"}) {
    const std::vector<double> one = read(folder + "/1/" + file + ".npy");
    const std::vector<double> four = read(folder + "/4/" + file + ".npy");
    ASSERT_EQ(one.size(), four.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      ASSERT_NEAR(one[i], four[i], 1e-5 * std::max(1.0, std::abs(one[i])))
          << file;
  }
}

TEST_F(LocalRanks, OneRankNeedsNoLauncher) {
  const Result r = shell(demo(1) + " --steps 3");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_HAS(r, "step 3/3  loss ");
}

TEST_F(LocalRanks, RejectsTheCommandLineOnce) {
  const Result none = shell(demo(4) + " --steps 3");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.text, "error: expected '" + demo(4) +
                           " --local-ranks 4', found 1 rank\n");
  const Result help = shell(demo(4) + " --help");
  EXPECT_HAS(help, "usage: " + demo(4) + " --local-ranks 4 [flags]");
  const Result comm =
      shell("env FFRT_COMM=smoke " + demo(4) + " --local-ranks 4");
  EXPECT_EQ(comm.status, 2) << comm.text;
  EXPECT_HAS(comm, "error: FFRT_COMM: expected mpi or shm, found 'smoke'");
  const Result other =
      shell("env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=4 " +
            demo(4) + " --steps 3");
  EXPECT_EQ(other.status, 1) << other.text;
  EXPECT_HAS(other, "error: rank 0: start: expected ranks that --local-ranks "
                    "has started, found others: this program is without MPI");
  const Result mpi = shell("env FFRT_COMM=mpi " + demo(1) + " --steps 1");
  EXPECT_EQ(mpi.status, 1) << mpi.text;
  EXPECT_HAS(mpi, "error: rank 0: FFRT_COMM=mpi: expected a program that was "
                  "built with MPI, found one without");
  const Result limit =
      shell("sh -c 'ulimit -f 1000; " + demo(4) + " --local-ranks 4'");
  EXPECT_EQ(limit.status, 2);
  EXPECT_EQ(limit.text, "error: --local-ranks: cannot make shared memory: the "
                        "size of files is limited\n");
}

TEST_F(LocalRanks, AllOperations) {
  for (int i = 0; i < 3; ++i)
    EXPECT_HAS(comm(""), "all checks hold");
}

TEST_F(LocalRanks, AFaultEndsAllRanks) {
  const Result killed = comm("killed");
  EXPECT_EQ(killed.status, 128 + 9) << killed.text;
  EXPECT_HAS(killed, "error: rank 1: ended by signal 9 (Killed)");
  const Result gone = comm("gone");
  EXPECT_EQ(gone.status, 1) << gone.text;
  EXPECT_HAS(gone, "rank 1 has ended");
  const Result abort = comm("abort");
  EXPECT_EQ(abort.status, 1) << abort.text;
  EXPECT_EQ(abort.text, "error: rank 1: layer 7: expected peace, found war\n");
  const Result thrown =
      shell("env DEMO_FAULT=throw " + demo(4) + " --local-ranks 4");
  EXPECT_EQ(thrown.status, 1) << thrown.text;
  EXPECT_EQ(thrown.text, "error: rank 3: run: demo fault\n");
}

TEST_F(LocalRanks, WaitsForOtherRanksHaveAnEnd) {
  const Result r = shell("env DEMO_FAULT=exchange " + demo(4) +
                         " --local-ranks 4 --deadline 2");
  EXPECT_EQ(r.status, 1) << r.text;
  EXPECT_EQ(count(r.text, "error: "), 4) << r.text;
  EXPECT_HAS(r, "error: rank 0: conv <- x: waits for ranks 1, 3 (exchange) "
                "since 2.");
  EXPECT_HAS(r, "error: rank 3: gradients: waits for ranks 0, 1, 2 "
                "(all-reduce) since 2.");
  const Result start = shell("env DEMO_FAULT=start " + demo(4) +
                             " --local-ranks 4 --deadline 2");
  EXPECT_EQ(start.status, 1) << start.text;
  EXPECT_EQ(count(start.text, ": start: waits for the other ranks since 2."), 3)
      << start.text;
}

TEST_F(LocalRanks, CompressedDataWantZlib) {
  std::ofstream(folder + "/train-images-idx3-ubyte.gz") << "x";
  std::ofstream(folder + "/train-labels-idx1-ubyte.gz") << "x";
  const Result r = shell(demo(1) + " --dataset " + folder);
  EXPECT_EQ(r.status, 1) << r.text;
  EXPECT_HAS(r, ".gz': expected a program that was built with zlib, found one "
                "without");
}

} // namespace
