//===- plan_file.cpp - the file of plans, and what ranks agree on ---------===//
//
// Rank 0 reads and writes the file. All ranks begin with what it says, measure
// what it lacks, each on its own GPU, and go on with what the lowest rank has
// found.
//
//===----------------------------------------------------------------------===//
#include "comm/launch.h"
#include "common/data/file.h"
#include "common/device/target.h"
#include "common/program/together.h"
#include "cuda/plans/tuner.h"
#include "ffrt/cuda/check.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace ffrt {

using cuda::PlanCache;
using cuda::tuner;

namespace {

constexpr const char *kTask = "plans";

/// What plans are good for besides the library, which problems name.
std::string device_name() {
  int device = 0, driver = 0;
  cudaDeviceProp properties{};
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaGetDeviceProperties(&properties, device),
              "cudaGetDeviceProperties");
  cuda::check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return std::string(properties.name) + "; driver " + std::to_string(driver);
}

bool measures() {
  const char *text = std::getenv("FFRT_TUNE");
  if (!text || !*text || !std::strcmp(text, "1"))
    return true;
  if (std::strcmp(text, "0") != 0)
    throw Error(std::string("FFRT_TUNE: expected 0 or 1, found '") + text +
                "'");
  return false;
}

/// The file's path; empty: there is none.
std::string path() {
  const char *text = std::getenv("FFRT_PLAN_CACHE");
  return text ? text : this_program() + ".plans";
}

/// Its text; empty where there is no such file.
std::string contents() {
  const std::string file = path();
  if (file.empty() || !exists(file))
    return "";
  const MappedFile mapped(file);
  return {reinterpret_cast<const char *>(mapped.data()), mapped.size()};
}

PlanCache read(const std::string &text) {
  PlanCache plans;
  if (text.empty())
    return plans;
  plans.read(text, path());
  return plans;
}

/// Adds to the file, which other programs may use at the same time. No file is
/// no error: then all is measured again the next time.
void save(const PlanCache &found) {
  const std::string file = path();
  if (file.empty())
    return;
  try {
    PlanCache plans = found;
    plans.add(read(contents()));
    NewFile written(file, ".tmp-" + std::to_string(getpid()));
    written.write(plans.text());
    written.commit();
  } catch (const Error &error) {
    std::fprintf(stderr, "warning: plans are not kept: %s\n", error.what());
    tuner().keep = nullptr; // said once
  }
}

/// The largest of all ranks' numbers.
int64_t greatest(Comm &comm, const Group &world, int64_t number) {
  comm.wait(comm.all_reduce(kTask, world, flat(&number, DType::i64, 1),
                            ReduceOp::max));
  return number;
}

/// Rank 0's text on all ranks.
std::string broadcast(Comm &comm, const Group &world, std::string text) {
  text.resize(std::size_t(
      greatest(comm, world, comm.rank() == 0 ? int64_t(text.size()) : 0)));
  if (!text.empty())
    comm.wait(comm.broadcast(
        kTask, world, 0, flat(text.data(), DType::u8, int64_t(text.size()))));
  return text;
}

/// What ranks have found, the lowest one's first.
PlanCache merged(Comm &comm, const Group &world, const PlanCache &mine) {
  std::string part = mine.text();
  const int64_t size = greatest(comm, world, int64_t(part.size()));
  part.resize(std::size_t(size), '\0');
  std::string whole(part.size() * std::size_t(comm.size()), '\0');
  comm.wait(
      comm.all_gather(kTask, world, flat(part.data(), DType::u8, size),
                      flat(whole.data(), DType::u8, int64_t(whole.size()))));
  PlanCache result;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::string padded =
        whole.substr(std::size_t(rank) * part.size(), part.size());
    PlanCache theirs;
    theirs.read(padded.substr(0, padded.find('\0')),
                "rank " + std::to_string(rank));
    result.add(theirs);
  }
  return result;
}

} // namespace

void begin_plans(Comm &comm, const Group &world) {
  std::string text;
  bool tunes = true;
  together(comm, world, kTask, [&] {
    tunes = measures();
    if (comm.rank() == 0 && tunes) {
      text = contents();
      read(text);
    }
  });
  // Launchers may give ranks other environments.
  if (!greatest(comm, world, comm.rank() == 0 && tunes))
    return tuner().stop();
  tuner().start(device_name(), read(broadcast(comm, world, text)));
  // Its plans count where ranks find different ones.
  if (comm.rank() == 0)
    tuner().keep = save;
}

bool agree_on_plans(Comm &comm, const Group &world) {
  const PlanCache &mine = tuner().found();
  if (!greatest(comm, world, int64_t(mine.size())))
    return true;
  const PlanCache all = merged(comm, world, mine);
  const bool agree = !greatest(comm, world, mine.contradicts(all));
  tuner().learn(all);
  if (comm.rank() == 0) {
    std::fprintf(stderr, "plans of libraries measured for %zu problems\n",
                 all.size());
    save(all);
  }
  return agree;
}

} // namespace ffrt
