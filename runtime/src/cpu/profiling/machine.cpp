//===- machine.cpp - what a profile was measured on -----------------------===//
#include "common/profiling/machine.h"

#include "ffrt/mpi.h"

#include <dnnl.h>
#include <fstream>
#include <thread>

namespace ffrt {

std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, name = "unknown processor";
  while (std::getline(file, line))
    if (line.rfind("model name", 0) == 0 && line.find(": ") != line.npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  const unsigned cores = std::thread::hardware_concurrency();
  return name + ", " + std::to_string(cores) +
         (cores == 1 ? " core" : " cores");
}

std::string own_gpu() { return ""; }

std::vector<std::pair<std::string, std::string>> library_versions() {
  const dnnl_version_t *dnnl = dnnl_version();
  return {{"onednn", std::to_string(dnnl->major) + "." +
                         std::to_string(dnnl->minor) + "." +
                         std::to_string(dnnl->patch)},
          {"mpi", mpi_version()},
          {"compiler", __VERSION__}};
}

} // namespace ffrt
