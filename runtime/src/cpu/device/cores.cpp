//===- cores.cpp - cores that the ranks share -----------------------------===//
#include "common/profiling/machine.h"

#include "common/device/machine_id.h"
#include "common/device/threads.h"
#include "common/program/together.h"

#include <map>
#include <vector>

namespace ffrt {

int count_cores(Comm &comm, const Group &world) {
  struct Place {
    int64_t machine;
    cpu_set_t cores;
  };
  constexpr int64_t kWords = sizeof(Place) / sizeof(int64_t);
  static_assert(kWords * sizeof(int64_t) == sizeof(Place));
  Place mine{machine_id(comm.rank()), own_cores()};
  std::vector<Place> all(std::size_t(comm.size()));
  comm.wait(comm.all_gather(
      "cores", world, flat(&mine, DType::i64, kWords),
      flat(all.data(), DType::i64, kWords * int64_t(all.size()))));
  std::map<int64_t, cpu_set_t> cores;
  for (const Place &place : all) {
    cpu_set_t &those = cores[place.machine];
    CPU_OR(&those, &those, &place.cores);
  }
  int count = 0;
  for (const auto &[machine, those] : cores)
    count += CPU_COUNT(&those);
  return count;
}

} // namespace ffrt
