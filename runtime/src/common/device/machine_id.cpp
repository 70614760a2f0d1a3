//===- machine_id.cpp - which machine a rank runs on ----------------------===//
#include "common/device/machine_id.h"

#include "ffrt/hash.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace ffrt {

int64_t machine_id(int rank) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  if (const char *ranks = std::getenv("FFRT_RANKS_PER_NODE"))
    id += " " + std::to_string(rank / std::max(1, std::atoi(ranks)));
  return int64_t(hash_name(id));
}

} // namespace ffrt
