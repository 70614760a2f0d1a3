//===- run_fixture.h - whole programs under mpirun --------------*- C++ -*-===//
#ifndef FFRT_TEST_RUN_FIXTURE_H
#define FFRT_TEST_RUN_FIXTURE_H

#include "shell.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace ffrt {

inline std::string demo(int ranks) {
  return std::string(PROGRAMS) + "/ffrt_demo_" + std::to_string(ranks);
}

/// Runs the demo for `ranks` ranks under mpirun -n `processes`.
inline Result mpirun(int processes, int ranks, const std::string &flags,
                     const std::string &variables = "") {
  return shell("env " + variables + " " + MPIRUN + " --oversubscribe -n " +
               std::to_string(processes) + " " + demo(ranks) + " " + flags);
}

/// A folder that is gone after the test.
class Run : public testing::Test {
protected:
  void SetUp() override {
    // Tests may run in a container, as root.
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    folder = testing::TempDir() + "ffrt_run_" +
             testing::UnitTest::GetInstance()->current_test_info()->name() +
             "_" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    // Open MPI removes its folder of sessions when the last program on the
    // machine ends, and fails if another one starts just then. Its sockets are
    // in there, whose paths must be short.
    sessions = testing::TempDir() + "ffm" + std::to_string(getpid());
    std::filesystem::create_directories(sessions);
    setenv("OMPI_MCA_orte_tmpdir_base", sessions.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    std::filesystem::remove_all(sessions);
  }
  std::string folder, sessions;
};

} // namespace ffrt

#endif // FFRT_TEST_RUN_FIXTURE_H
